"""Worlds of the synthetic task: papers about two places of one kind, and what is true in them.

A world has 6 to 8 sources that all its questions share, in a drawn order:

======== =============================== ====================================================
guide    public                          current facts of the main place
handbook internal (authorized)           current facts that only the staff writes down
sibling  public                          the same kinds of facts of another place: distractor
register public, old                     contradicts a newer record on a number or a date
survey   public, new (or in the guide)   the newer record: it is right
notice   public, expired                 a value that held until it ran out
memo     confidential or restricted      a planned value: denied
partner  of a foreign project            somebody else's value: denied
======== =============================== ====================================================

(memo, partner and survey are not in every world, but one of memo and partner is.) Four questions
a world: a plain fact (of either place, or from the handbook), the contradicted one, the one of
the notice, and the one of memo or partner. No right answer occurs anywhere outside its gold
sentence: a world where one would is drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass

from capsules.timestamp import format_time, parse_time
from tasks.base import LabelledContradiction, SourceDoc, TextRange
from tasks.synthetic_desk import DAY, Desk, Facts, draw_facts
from tasks.synthetic_draw import Draw
from tasks.synthetic_facts import Domain, Fact
from tasks.synthetic_papers import Place, Writer
from tasks.synthetic_prose import ASK_NEWER, ASK_NOW, DRAFT, FOREIGN, NEWER, OLDER, PARTNERS, PLACES, STALE
from tasks.synthetic_sites import FERRY, HUT, LIGHT, MILL
from tasks.synthetic_values import MONTHS
from tasks.synthetic_works import ARCHIVE, GLASSHOUSE, OBSERVATORY, PUMPING_STATION

DOMAINS = (LIGHT, GLASSHOUSE, FERRY, OBSERVATORY, HUT, ARCHIVE, MILL, PUMPING_STATION)
TRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: where its answer stands, and which documents only look as if."""

    role: str  # plain | newer | current | official
    text: str
    answer: str
    gold: TextRange
    distractors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The shared sources of some questions, with the truth about each source."""

    sources: tuple[SourceDoc, ...]
    questions: tuple[Question, ...]
    contradiction: LabelledContradiction
    expired: tuple[str, ...]
    denied: tuple[str, ...]


def make_world(names: tuple[str | int, ...], domain_number: int, project: str, as_of: str) -> World:
    """Make the world of these names: the same for the same arguments, on every machine.

    Raises:
        RuntimeError: No try gave a fair world (does not happen with the tables as they are).
    """
    for attempt in range(TRIES):
        draw = Draw(*names, attempt)
        row = "-".join(str(name) for name in names[1:])
        world = _write(draw, DOMAINS[domain_number % len(DOMAINS)], project, parse_time(as_of), row)
        if is_fair(world):
            return world
    raise RuntimeError(f"no fair world of {names} in {TRIES} tries")


def is_fair(world: World) -> bool:
    """Whether every answer stands in its gold sentence once, and nowhere else in the world."""
    for question in world.questions:
        answer = _plain(question.answer)
        for doc in world.sources:
            here = 1 if doc.doc_id == question.gold.doc_id else 0
            if _plain(doc.text).count(answer) != here or answer in _plain(doc.title or ""):
                return False
        if answer in _plain(question.text):
            return False
    return True


def _plain(text: str) -> str:
    return text.replace("\u00a0", " ").casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What a world is to hold; ``first`` and ``special`` are the facts of two of its questions."""

    main: Place
    other: Place
    facts: Facts
    survey: bool
    memo: bool
    partner: bool
    first: Fact
    special: Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filed:
    """The doc_ids of a world's papers; ``homes`` says where each fact's right value stands."""

    homes: dict[str, str]
    sibling: str
    register: str
    notice: str
    denied: tuple[str, ...]


def _write(draw: Draw, domain: Domain, project: str, now: int, row: str) -> World:
    plan = _plan(draw, domain)
    taken = frozenset(value for values in plan.facts.values.values() for value in values)
    writer = Writer(draw, domain, taken, int(format_time(now)[:4]) - 3)
    desk = Desk(draw=draw, writer=writer, project=project, row=row, now=now)
    filed = _papers(desk, plan)
    contradicted = plan.facts.measured.questions[0]
    return World(
        questions=draw.shuffled(_questions(desk, plan, filed)),
        sources=draw.shuffled(desk.docs),
        contradiction=LabelledContradiction(
            left=desk.span(filed.register, contradicted),
            right=desk.span(filed.homes[contradicted], contradicted),
            kind=plan.facts.measured.value.kind,
        ),
        expired=(filed.notice,),
        denied=filed.denied,
    )


def _plan(draw: Draw, domain: Domain) -> _Plan:
    main, other = (
        Place(name=f"{name} {domain.kind}", slug=f"{slug}-{domain.slug}")
        for name, slug in draw.shuffled(PLACES)[:2]
    )
    facts = draw_facts(draw, domain)
    memo, partner = draw.pick(((True, True), (True, True), (True, False), (False, True)))
    asks_memo = memo and (not partner or draw.one_in(2))
    return _Plan(
        main=main,
        other=other,
        facts=facts,
        survey=draw.one_in(2),
        memo=memo,
        partner=partner,
        first=draw.pick((facts.plain, facts.plain, facts.inside)),
        special=facts.planned if asks_memo else facts.assumed,
    )


def _papers(desk: Desk, plan: _Plan) -> _Filed:
    facts, value, state = plan.facts, plan.facts.value, desk.state_now
    newer = desk.state(facts.measured, value(facts.measured, 0), NEWER)
    assumed = state(facts.assumed, value(facts.assumed, 0))
    in_guide = [state(facts.plain, value(facts.plain, 0)), state(facts.noticed, value(facts.noticed, 0))]
    in_book = [state(facts.inside, value(facts.inside, 0)), state(facts.planned, value(facts.planned, 0))]
    if not plan.survey:
        in_guide.append(newer)
        in_book.append(assumed)
    # A second is enough to be valid still; half of the guides never expire.
    later = desk.now + desk.draw.pick((1, DAY * desk.draw.between(2, 400)))
    expiry = later if desk.draw.one_in(2) else None
    guide = desk.add("guide", plan.main, tuple(in_guide), as_of=desk.ago(5, 120), expires_at=expiry)
    book = desk.add("handbook", plan.main, tuple(in_book), as_of=desk.ago(5, 200), level="internal")
    asked = (plan.first, facts.measured, facts.noticed, plan.special)
    beside = tuple(state(fact, value(fact, 1)) for fact in asked)
    sibling = desk.add("guide", plan.other, beside, as_of=desk.ago(5, 300))
    survey = None
    if plan.survey:
        survey = desk.add("survey", plan.main, (newer, assumed), as_of=desk.ago(10, 300))
    older = desk.state(facts.measured, value(facts.measured, 2), OLDER)
    homes = {
        facts.plain: guide,
        facts.inside: book,
        facts.noticed: guide,
        facts.measured: survey or guide,
        facts.planned: book,
        facts.assumed: survey or book,
    }
    return _Filed(
        homes={fact.questions[0]: doc_id for fact, doc_id in homes.items()},
        sibling=sibling,
        register=desk.add("register", plan.main, (older,), as_of=desk.ago(5 * 365, 25 * 365)),
        notice=_notice(desk, plan),
        denied=_denied(desk, plan),
    )


def _notice(desk: Desk, plan: _Plan) -> str:
    # One in four runs out at this very second: validity is half-open, so it is expired too.
    expires = desk.now if desk.draw.one_in(4) else desk.ago(1, 300)
    last = format_time(expires - 1)
    date = f"{int(last[8:10])} {MONTHS[int(last[5:7]) - 1]} {last[:4]}"
    fact = plan.facts.noticed
    stale = desk.state(fact, plan.facts.value(fact, 2), STALE)
    written = expires - DAY * desk.draw.between(20, 200)
    return desk.add("notice", plan.main, (stale,), as_of=written, expires_at=expires, slots={"date": date})


def _denied(desk: Desk, plan: _Plan) -> tuple[str, ...]:
    denied: list[str] = []
    if plan.memo:
        fact = plan.facts.planned
        draft = desk.state(fact, plan.facts.value(fact, 2), DRAFT)
        level = desk.draw.pick(("confidential", "restricted"))
        denied.append(desk.add("memo", plan.main, (draft,), as_of=desk.ago(3, 90), level=level))
    if plan.partner:
        fact = plan.facts.assumed
        project, org = desk.draw.pick([pair for pair in PARTNERS if pair[0] != desk.project])
        other = desk.state(fact, plan.facts.value(fact, 2), FOREIGN)
        doc_id = desk.add(
            "partner", plan.main, (other,), as_of=desk.ago(3, 90), project=project, slots={"org": org}
        )
        denied.append(doc_id)
    return tuple(denied)


def _questions(desk: Desk, plan: _Plan, filed: _Filed) -> tuple[Question, ...]:
    def ask(role: str, fact: Fact, leads: tuple[str, ...], *, about_other: bool = False) -> Question:
        kind = fact.questions[0]
        home = filed.homes[kind]
        gold, lookalike = (filed.sibling, home) if about_other else (home, filed.sibling)
        name = (plan.other if about_other else plan.main).name
        lead, text = desk.draw.pick(leads), desk.draw.pick(fact.questions).replace("{name}", name)
        return Question(
            role=role,
            text=f"{lead}{text[0].lower()}{text[1:]}" if lead else text,
            answer=plan.facts.value(fact, 1 if about_other else 0),
            gold=desk.span(gold, kind),
            distractors=(lookalike, filed.register) if role == "newer" else (lookalike,),
        )

    return (
        ask("plain", plan.first, ("",), about_other=desk.draw.one_in(3)),
        ask("newer", plan.facts.measured, ASK_NEWER),
        ask("current", plan.facts.noticed, ASK_NOW),
        ask("official", plan.special, ASK_NOW),
    )
