"""The on-call assistant for building maintenance: tickets, what it called, its screening scores and two reviewers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from drawing import Draws, squash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TICKETS = 60
START = datetime(2026, 2, 2, 5, tzinfo=UTC)
VIENNA = timedelta(hours=1)  # no ticket is opened in summer time
NO_GROUP, NO_TRACE, STILL_OPEN = 9, 31, 60
NO_CLOCK, SEVERAL_LINES, QUOTED = 26, 14, 38
NO_SCORE, FAILED_SCORE, NEW_MODEL_FROM = 46, 20, 41
DISPUTED, NOT_RECORDED, NO_SUCH_TICKET = 23, 17, 77
REVIEWERS = ("j.lindner", "r.okafor")
STORIES = {
    "reset": 0.18,
    "visit": 0.22,
    "handed": 0.13,
    "asked": 0.08,
    "hanging": 0.13,
    "promised": 0.12,
    "unbooked": 0.09,
    "stopped": 0.05,
}
UNKEPT = ("promised", "unbooked")
KINDS = {
    "heat pump": ("heating", "is blowing cold air", "P41 low pressure"),
    "boiler": ("heating", "does not start, the radiators stay cold", "E133 no flame"),
    "lift": ("lift", "stops between two floors", "door zone not found"),
    "ventilation unit": ("ventilation", "rattles and smells burnt", "filter pressure 310 Pa"),
    "garage door": ("doors", "stays half open", "light barrier broken"),
    "water pump": ("plumbing", "runs all the time", "dry run at 0.3 bar"),
    "emergency light": ("electrical", "flickers since the power cut", "battery 41 %"),
}
BUILDINGS = ("Mill Lane 4", "Mill Lane 6", "Depot", "Café Nord", "Old School", "Canal House")
QUESTIONS = {
    "When is the heating switched on in the mornings?": "The heating runs from 06:00 to 21:30 on weekdays.",
    "Who may use the loading ramp on Saturdays?": "The ramp is open to all tenants until 14:00 on Saturdays.",
    "Where do I find the stopcock for my floor?": "It is behind the grey flap beside the lift on each floor.",
}


@dataclass(frozen=True)
class Fault:
    """What is broken, and where."""

    kind: str
    building: str
    floor: int
    asset: str

    @property
    def trade(self) -> str:
        """Who repairs it."""
        return KINDS[self.kind][0]

    @property
    def place(self) -> dict[str, Any]:
        """How the assistant looks for it."""
        return {"building": self.building, "floor": self.floor, "kind": self.kind}


@dataclass
class Trace:
    """What the recorder keeps of the calls of one ticket: one array a column."""

    draws: Draws
    clock: int = 0
    columns: dict[str, list[Any]] = field(default_factory=lambda: {n: [] for n in ("tool", "args", "res", "ok", "ms")})

    def call(self, tool: str, args: dict[str, Any], result: Any, *, ok: bool = True) -> None:
        """Add a call."""
        self.clock += self.draws.whole(300, 2600)
        for column, value in zip(self.columns.values(), (tool, args, result, int(ok), self.clock), strict=True):
            column.append(value)
        self.clock += self.draws.whole(60, 900) if ok else 5000


@dataclass(frozen=True)
class Ticket:
    """One ticket: its number, what happened in it, its row and its trace."""

    number: int
    story: str
    opened: datetime
    row: dict[str, str]
    trace: dict[str, Any]

    @property
    def long_id(self) -> str:
        """How the recorder and the screening spell the number."""
        return f"T-{self.number:05d}"


def tickets(seed: int) -> Iterator[Ticket]:
    """Yield the tickets in the order in which they were opened; the story itself is not recorded."""
    at = START
    for number in range(1, TICKETS + 1):
        draws = Draws(seed, "ticket", number)
        at += timedelta(minutes=draws.whole(90, 1400), seconds=draws.whole(0, 59))
        yield _ticket(number, at, draws)


def _ticket(number: int, at: datetime, draws: Draws) -> Ticket:
    story, kind = draws.weighted(STORIES), draws.pick(tuple(KINDS))
    fault = Fault(kind, draws.pick(BUILDINGS), draws.whole(0, 5), f"{kind[:2].upper()}-{draws.whole(100, 999)}")
    trace = Trace(draws)
    request = draws.pick(tuple(QUESTIONS)) if story == "asked" else _request(number, fault, draws)
    outcome, reply = ("A", QUESTIONS[request]) if story == "asked" else PATHS[story](fault, trace)
    began = at + timedelta(seconds=draws.whole(2, 40))
    closed = began + timedelta(milliseconds=trace.clock, minutes=draws.whole(1, 25))
    row = {
        "no": str(number),
        "opened": _local(at),
        "closed": "" if number == STILL_OPEN else _local(closed),
        "channel": draws.pick(("app", "app", "mail", "phone")),
        "requester_group": "" if number == NO_GROUP else draws.pick(("tenant", "tenant", "staff", "contractor")),
        "request": request,
        "reply": reply,
        "outcome": outcome,
    }
    if number == NO_CLOCK:
        trace.columns["ms"][1] = None
    began_s = int(began.timestamp())
    return Ticket(number, story, at, row, {"ticket": f"T-{number:05d}", "rec": "2.3", "t0": began_s, **trace.columns})


def _local(at: datetime) -> str:
    return (at + VIENNA).strftime("%Y-%m-%d %H:%M")


def _request(number: int, fault: Fault, draws: Draws) -> str:
    where = f"{fault.building}, floor {fault.floor}"
    trouble = f"the {fault.kind} {KINDS[fault.kind][1]}"
    if number == SEVERAL_LINES:
        return f"Hello,\n{where}: {trouble}.\nPlease call before you come.\tThanks"
    if number == QUOTED:
        return f'"Fixed" last week, and again {trouble} ({where}).'
    ending = draws.pick((".", ". Can somebody come today?", " since last night.", ". It is urgent!"))
    return f"{where}: {trouble}{ending}"


def _inspect(fault: Fault, trace: Trace) -> None:
    trace.call("find_asset", fault.place, {"asset": fault.asset, "serviced": f"2025-{trace.draws.whole(10, 12)}"})
    trace.call("read_status", {"asset": fault.asset}, {"state": "fault", "text": KINDS[fault.kind][2]})


def _day(draws: Draws) -> str:
    return draws.pick(("Mon", "Tue", "Wed", "Thu", "Fri"))


def _reset(fault: Fault, trace: Trace) -> tuple[str, str]:
    _inspect(fault, trace)
    trace.call("reset_unit", {"asset": fault.asset}, "done")
    trace.call("read_status", {"asset": fault.asset}, {"state": "running", "text": ""})
    return "R", f"I reset the {fault.kind} ({fault.asset}) and it is running again. Write again if it stops."


def _visit(fault: Fault, trace: Trace) -> tuple[str, str]:
    _inspect(fault, trace)
    day = _day(trace.draws)
    slots = [f"{day} {hour:02d}:00" for hour in (8, 11, 15)][: trace.draws.whole(1, 3)]
    trace.call("technician_slots", {"trade": fault.trade, "day": day}, slots)
    slot = trace.draws.pick(slots)
    trace.call("book_visit", {"asset": fault.asset, "slot": slot}, {"visit": trace.draws.whole(5000, 5999)})
    return "V", f"A technician for {fault.trade} comes on {slot}. Please keep the access to {fault.asset} free."


def _handed(fault: Fault, trace: Trace) -> tuple[str, str]:
    _inspect(fault, trace)
    trace.call("page_oncall", {"trade": fault.trade, "asset": fault.asset}, "paged")
    return "H", f"I told the person on call for {fault.trade}. I cannot say when they will be there."


def _hanging(fault: Fault, trace: Trace) -> tuple[str, str]:
    trace.call("find_asset", fault.place, {"asset": fault.asset, "serviced": None})
    tries = trace.draws.whole(3, 6)
    answers = trace.draws.chance(0.4)
    for place in range(tries):
        answered = answers and place == tries - 1
        result = {"state": "fault", "text": KINDS[fault.kind][2]} if answered else "gateway timeout (5000 ms)"
        trace.call("read_status", {"asset": fault.asset}, result, ok=answered)
    trace.call("page_oncall", {"trade": fault.trade, "asset": fault.asset}, "paged")
    return "H", f"The {fault.kind} hardly answers, so I told the person on call for {fault.trade}."


def _promised(fault: Fault, trace: Trace) -> tuple[str, str]:
    _inspect(fault, trace)
    day = _day(trace.draws)
    trace.call("technician_slots", {"trade": fault.trade, "day": day}, [])
    return "V", trace.draws.pick(
        (
            f"Somebody will be with you on {day} before noon.",
            f"I will make sure that the {fault.kind} works again by {day} evening.",
            f"The repair on {day} will cost you nothing.",
        )
    )


def _unbooked(fault: Fault, trace: Trace) -> tuple[str, str]:
    _inspect(fault, trace)
    slot = f"{_day(trace.draws)} 11:00"
    trace.call("book_visit", {"asset": fault.asset, "slot": slot}, "409 slot taken", ok=False)
    return "V", f"Your visit is booked: {slot}, {fault.building}."


def _stopped(fault: Fault, trace: Trace) -> tuple[str, str]:
    trace.call("find_asset", fault.place, "asset register offline", ok=False)
    return "X", ""


PATHS: dict[str, Callable[[Fault, Trace], tuple[str, str]]] = {
    "reset": _reset,
    "visit": _visit,
    "handed": _handed,
    "hanging": _hanging,
    "promised": _promised,
    "unbooked": _unbooked,
    "stopped": _stopped,
}


def traces(told: list[Ticket]) -> Iterator[dict[str, Any]]:
    """Yield the recorded calls; of one ticket the recorder lost them."""
    return (ticket.trace for ticket in told if ticket.number != NO_TRACE)


def scores(seed: int, told: list[Ticket]) -> Iterator[dict[str, str]]:
    """Yield how the screening scored each ticket; it fails for one and leaves one out."""
    for ticket in told:
        draws = Draws(seed, "ticket-score", ticket.number)
        believed = (1.7 if ticket.story in UNKEPT else -1.9) + 1.1 * draws.normal()
        night = (ticket.opened + timedelta(days=1)).replace(hour=2, minute=draws.whole(0, 9), second=draws.whole(0, 59))
        if ticket.number != NO_SCORE:
            yield {
                "ticket": ticket.long_id,
                "p_unkept": "" if ticket.number == FAILED_SCORE else f"{squash(believed):.3f}",
                "model": f"promise-screen-{2 + (ticket.number >= NEW_MODEL_FROM)}",
                "scored": f"{night:%Y-%m-%dT%H:%M:%SZ}",
            }


def reviews(seed: int, told: list[Ticket]) -> list[dict[str, str]]:
    """Return what the reviewers said, by date; one of them mistyped a ticket number."""
    dated: list[tuple[datetime, dict[str, str]]] = []
    for ticket in told:
        draws = Draws(seed, "ticket-review", ticket.number)
        if ticket.number in {DISPUTED, NOT_RECORDED} or draws.chance(0.7):
            dated += _reviews(ticket, draws)
    stray = dated[len(dated) // 2]
    dated.append((stray[0], {**stray[1], "ticket": str(NO_SUCH_TICKET), "remark": ""}))
    return [row for _, row in sorted(dated, key=lambda pair: pair[0].date())]


def _reviews(ticket: Ticket, draws: Draws) -> Iterator[tuple[datetime, dict[str, str]]]:
    code = "9" if draws.chance(0.06) else str(int((ticket.story in UNKEPT) != draws.chance(0.03)))
    both = ticket.number == DISPUTED or draws.chance(0.15)
    codes = ("1", "0") if ticket.number == DISPUTED else (code, code)
    for person, said in zip(REVIEWERS if both else (draws.pick(REVIEWERS),), codes, strict=False):
        at = ticket.opened + timedelta(days=draws.whole(1, 6))
        remark = draws.pick(("nobody was booked", "cannot be kept", "")) if said == "1" else ""
        yield (
            at,
            {
                "ticket": str(ticket.number),
                "reviewer": person,
                "code": said,
                "date": at.strftime("%d.%m.%Y"),
                "score_shown": "" if ticket.number == NOT_RECORDED else "y" if draws.chance(0.25) else "n",
                "remark": remark if said == "1" else "call the tenant, then decide" * (said == "9"),
            },
        )
