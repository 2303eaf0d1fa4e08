"""What is shown of an address, and what an address may not have in it."""

import pytest

from ledger.errors import StorageError
from ledger.runtime import postgres
from ledger.runtime.postgres_session import array, bigint, number

SECRET = "s3cr:t/?@x"


@pytest.mark.outside  # psycopg reads the address
@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:s3cr@db1/chess",
        "postgresql://ann:s3cr%3At@db1:5432,db2:5433/chess?sslmode=require",
        f"postgresql://ann:{SECRET}@db1/chess",
        "postgresql://:s3cr@/chess",
        "postgres://ann:12/s3cr@db1/chess",
        "postgresql://ann@db1/chess?password=s3cr&sslmode=require",
        "postgresql://ann@db1/chess?sslmode=require&sslpassword=s3cr",
        "host=db1 user=ann password=s3cr dbname=chess",
        "host=db1 password = 's3cr it\\'s' dbname=chess",
    ],
)
def test_no_password_is_shown_and_none_may_stand_in_an_address(address: str) -> None:
    assert "s3cr" in address
    assert "s3cr" not in postgres.shown(address)
    with pytest.raises(StorageError) as refused:
        postgres.connect(address)
    assert "s3cr" not in str(refused.value)
    assert "has a password in it" in str(refused.value) or "is no address of a database" in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann@db1/chess", "postgresql://db1:5432/chess", "postgresql://ann@[::1]:5432/chess",
        "postgresql:///chess?host=/run/postgresql&application_name=club", "service=club", "host=db1 passfile=/etc/pass",
    ],
)  # fmt: skip
def test_an_address_without_a_password_is_shown_as_it_is(address: str) -> None:
    assert postgres.shown(address) == address


def test_names_stand_in_quotes() -> None:
    assert postgres.quoted('the "club"') == '"the ""club"""'


def test_addresses_are_told_from_paths() -> None:
    assert postgres.is_address("postgresql://ann@db1/chess")
    assert not postgres.is_address("postgresql/club.db")


@pytest.mark.parametrize("value", [0, 1, -1, 2**40, 2**63 - 1, -(2**63)])
def test_numbers_come_back_from_the_binary_protocol(value: int) -> None:
    assert number(bigint(value)) == value


def test_an_array_has_its_type_and_the_length_of_each_item() -> None:
    assert array(25, [b"ab", b""]).hex() == "0000000100000000000000190000000200000001" + "000000026162" + "00000000"
