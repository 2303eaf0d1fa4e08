"""The rules of which a refused proposal is told one: what each means and asks for; ``proposal_gate`` applies them."""

from __future__ import annotations

from collections.abc import Mapping

# Name -> what it means and what to do.
RULES: Mapping[str, str] = {
    "no-reason": "a correction is proposed with a reason, which stands beside the journal: give one",
    "nothing-proposed": "a proposal holds at least one change, and a batch at least one row: give one",
    "no-such-fact": "the journal holds no fact of this key at this entry: look it up",
    "no-such-player": "this player number was never registered: look it up",
    "no-such-tournament": "no game of this pool bears this tournament's name: names are matched whole",
    "no-such-proposal": "nobody made a proposal of this number: see 'correct list'",
    "not-correctable": "this field, or a fact of this kind, is not corrected so: the message says what is",
    "stale": "the fact no longer says what the proposal expects: look at it again and propose anew",
    "changes-nothing": "the facts say already what they would say then: nothing to do",
    "conflicting": "two changes contradict each other, or the facts would after it: leave one out",
    "circular": "a player would be merged into somebody who is the same person already",
    "already-merged": "the player is merged into somebody already: take the merge apart first",
    "bad-value": "a field may not hold this value: the message says what it may hold",
    "impossible-ending": "no game of this result, or of so many half-moves, ends so: correct all of it in one proposal",
    "exists-already": "the journal holds a fact of this key: correct that one, or restore it",
    "already-decided": "a proposal is decided once: propose anew, or undo an approved one",
    "not-approved": "only an approved proposal that acts can be undone: see 'correct show'",
    "not-the-proposer": "a proposal is withdrawn by who made it; somebody else rejects it",
    "four-eyes": "who proposed a correction may not approve it: somebody else does",
    "unseen-entries": "entries were recorded since the impact was looked at: look at it again, then approve",
}
