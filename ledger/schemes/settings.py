"""The settings of schemes: their declaration, those of schemes by period, and their form for kernels.

A setting is a field of an attrs class with its default, its description, its unit, and the place of its rule. The
module ``scheme`` defines schemes; each scheme has its own settings.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar, cast

import attrs


def setting(default: float | bool, doc: str, unit: str, source: str) -> Any:
    """Return a field of a settings class: its default, its description, its unit, and the source of its rule.

    The default is the meaning of an adoption that does not name the setting, so it never changes once released;
    ``Scheme.for_new_pools`` holds the value for a pool that begins now, if it differs.
    """
    return attrs.field(default=default, metadata={"doc": doc, "unit": unit, "source": source})


def require_positive(settings: object, *names: str) -> None:
    """Refuse settings that must be above zero.

    Raises:
        ValueError: naming the first that is not.
    """
    for name in names:
        if not getattr(settings, name) > 0:
            raise ValueError(f"{name} must be above 0, got {getattr(settings, name)}")


def require_not_negative(settings: object, *names: str) -> None:
    """Refuse settings below zero.

    Raises:
        ValueError: naming the first that is.
    """
    for name in names:
        if getattr(settings, name) < 0:
            raise ValueError(f"{name} must not be negative, got {getattr(settings, name)}")


def require_whole(settings: object, **limits: tuple[float, float]) -> None:
    """Refuse settings that are no whole numbers, or lie outside: by name the lowest and the highest.

    Raises:
        ValueError: naming the first that is not so.
    """
    for name, (low, high) in limits.items():
        value = getattr(settings, name)
        if not low <= value <= high or value % 1:
            raise ValueError(f"{name} must be a whole number from {low} to {high}, got {value}")


@attrs.frozen(kw_only=True)
class PeriodSettings:
    """The settings of every scheme by period; a scheme with another length gives the field its own default."""

    period_days: float = setting(0.0, "length of a period in days; 0: in months", "days", "choice of the pool")
    period_months: float = setting(1.0, "length of a period in calendar months", "months", "choice of the pool")
    first_month: float = setting(1.0, "a month of the year in which a period begins", "month", "choice of the pool")
    by_runs: bool = setting(False, "periods end where rating runs are closed", "switch", "choice of the pool")  # noqa: FBT003

    def check_periods(self) -> None:
        """Refuse lengths that no calendar has.

        Raises:
            ValueError: naming the first of them.
        """
        require_whole(self, period_days=(0, 3660), period_months=(1, 120), first_month=(1, 12))


@attrs.frozen(kw_only=True)
class EventSettings(PeriodSettings):
    """The settings of a scheme by period that can rate tournaments whole, in the period in which they ended.

    The defaults are those of ledgers that say nothing of it, which rate each game in the period in which it ended.
    """

    by_event: bool = setting(False, "tournaments are rated whole, when they are over", "switch", "choice of the pool")  # noqa: FBT003
    event_gap: float = setting(7.0, "days without a game after which one of that name is another", "days", "our choice")
    event_days: float = setting(
        30.0, "how long a tournament may last; the games of longer ones count by period", "days", "our choice"
    )
    included_until: float = setting(
        0.0,
        "days before the end of a period by which a tournament must be over to be in it",
        "days",
        "choice of the pool",
    )
    in_force_after: float = setting(
        0.0, "days after the end of a period for which its ratings are not yet in force", "days", "choice of the pool"
    )
    first_day_ratings: float = setting(
        0.0,
        "how long a tournament may last to be rated with the ratings of its first day; longer ones with those of each "
        "period; 0: event_days",
        "days",
        "our choice",
    )

    def check_periods(self) -> None:
        """Refuse lengths that no calendar and no tournament has.

        Raises:
            ValueError: naming the first of them.
        """
        super().check_periods()
        require_whole(self, event_gap=(1, 366), event_days=(1, 366), included_until=(0, 366), in_force_after=(0, 366))
        require_whole(self, first_day_ratings=(0, 366))


def stored_setting(value: float | bool) -> int | bool | str:
    """Return a setting's value as events write it: a switch, a whole number, or a decimal as text."""
    if isinstance(value, bool):
        return value
    return int(value) if value == int(value) else format(Decimal(repr(value)), "f")


S = TypeVar("S")


def numbers_of(settings: type[S]) -> Callable[..., S]:
    """Return a named tuple class of the same fields in the same order: a scheme's settings as its kernels take them.

    For a type checker the tuple has the type of the settings, so that kernels say ``numbers: Settings``. Its name
    must be ``Numbers`` in the module of the settings: compiled code on disk refers to it so.
    """
    fields = [field.name for field in attrs.fields(settings)]  # type: ignore[arg-type]
    make: Any = namedtuple
    return cast("Callable[..., S]", make("Numbers", fields, module=settings.__module__))


def replace_settings(numbers: S, **settings: float | bool) -> S:
    """Return *numbers* with some settings given otherwise, unchecked: for trying out."""
    return cast("S", cast("Any", numbers)._replace(**settings))
