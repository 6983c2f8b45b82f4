"""Shapes: what a record's annotations say, compiled once a class; construction and reading use it.

``Record`` is the base of every record. Its construction checks each field's rule, the order and
uniqueness of arrays, and the laws that tie fields together, and raises on the first failure: a record
that exists is valid. ``read`` goes over a JSON value with the same shape and collects every failure.

* A law names the fields that it reads and is checked only where those are in order, so that one fault
  is not reported again as its consequences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from capsules.arrays import ArrayRule, Distinct, Sorted
from capsules.errors import SchemaError
from capsules.rules import WORD_PATTERN, PatternRule, Problem, Rule, type_name
from capsules.strict_json import MAX_ITEMS

R = TypeVar("R", bound="Record")
Check = Callable[[object], tuple[str, str] | None]
LawFn = Callable[[Any], Iterator[Problem]]

BAD: Any = object()  # what reading gives for a value with a problem

_WORD = PatternRule(WORD_PATTERN, "schema.word", "a word")


class Scalar(NamedTuple):
    """A single value with its rule."""

    rule: Rule

    def read(self, value: Any, at: str, sink: list[Problem], native: bool) -> Any:
        """The value, or ``BAD`` with the problem in ``sink``."""
        found = self.rule.problem(value)
        if found is None:
            return value
        sink.append(Problem(found[0], at, self.rule.expected, found[1]))
        return BAD


class Nullable(NamedTuple):
    """``null`` or a value of the inner shape."""

    inner: Node

    def read(self, value: Any, at: str, sink: list[Problem], native: bool) -> Any:
        """The value, or ``BAD`` with the problems in ``sink``."""
        return None if value is None else self.inner.read(value, at, sink, native)


class Array(NamedTuple):
    """A tuple of one item shape, of any length or of exactly ``length``."""

    item: Node
    rule: ArrayRule | None
    length: int | None

    def read(self, value: Any, at: str, sink: list[Problem], native: bool) -> Any:
        """The items as a tuple, or ``BAD`` with the problems in ``sink``."""
        if type(value) is not (tuple if native else list):
            sink.append(Problem("schema.field.type", at, "an array", type_name(value)))
            return BAD
        if len(value) > MAX_ITEMS or self.length not in (None, len(value)):
            wanted = f"at most {MAX_ITEMS} items" if self.length is None else f"{self.length} items"
            sink.append(Problem("schema.limit", at, wanted, f"{len(value)} items"))
            return BAD
        read, before = self.item.read, len(sink)
        if native and isinstance(self.item, Nested) and self.item.holds(value):
            items = tuple(value)
        else:
            items = tuple([read(item, f"{at}/{index}", sink, native) for index, item in enumerate(value)])
        bad = len(sink) > before
        if self.rule is not None:
            good = [(index, item) for index, item in enumerate(items) if item is not BAD]
            sink.extend(self.rule.problems(good, at))
        return BAD if bad else items


class Nested(NamedTuple):
    """A record inside a record."""

    cls: type[Record]

    def holds(self, values: Iterable[Any]) -> bool:
        """Whether all of some values are records of the class: constructed, hence valid."""
        return set(map(type, values)) <= {self.cls}

    def read(self, value: Any, at: str, sink: list[Problem], native: bool) -> Any:
        """The record, or ``BAD`` with the problems in ``sink``."""
        if not native:
            return read(self.cls, value, at, sink)
        if type(value) is self.cls:  # constructed, hence valid
            return value
        sink.append(Problem("schema.field.type", at, f"a {self.cls.__name__}", type_name(value)))
        return BAD


Node = Scalar | Nullable | Array | Nested


class Law(NamedTuple):
    """A method of a record that yields problems, and the fields that it reads."""

    needs: frozenset[str]
    check: LawFn


class Shape(NamedTuple):
    """A record class, compiled.

    Attributes:
        nodes: The shape of each field, in declared order.
        members: (name, node, check, put): ``check`` is the rule's where the field is a single value;
            ``put`` sets the slot.
        laws: What ties fields together.
        names: The fields in canonical order.
        values: Their values in that order, of a record.
    """

    nodes: dict[str, Node]
    members: tuple[tuple[str, Node, Check | None, Callable[[Any, Any], None]], ...]
    laws: tuple[Law, ...]
    names: tuple[str, ...]
    values: Callable[[Record], tuple[Any, ...]]


def law(*needs: str) -> Callable[[LawFn], LawFn]:
    """Mark a method of a record as a law over the named fields."""

    def mark(check: LawFn) -> LawFn:
        check.__dict__["needs"] = frozenset(needs)
        return check

    return mark


_SHAPES: dict[type[Record], Shape] = {}


def shape_of(cls: type[Record]) -> Shape:
    """The shape of a record class, compiled at its first use."""
    shape = _SHAPES.get(cls)
    if shape is None:
        hints = get_type_hints(cls, include_extras=True)
        nodes = {name: _node(hint, None) for name, hint in hints.items()}
        checks = {name: node.rule.problem for name, node in nodes.items() if isinstance(node, Scalar)}
        marked = (member for member in vars(cls).values() if hasattr(member, "needs"))
        names = tuple(sorted(nodes))
        shape = _SHAPES[cls] = Shape(
            nodes=nodes,
            members=tuple(
                (name, node, checks.get(name), vars(cls)[name].__set__) for name, node in nodes.items()
            ),
            laws=tuple(Law(member.needs, member) for member in marked),
            names=names,
            values=attrgetter(*names),  # a tuple: every record has two fields or more
        )
    return shape


def _node(hint: Any, array_rule: ArrayRule | None) -> Node:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        if isinstance(arguments[1], Sorted | Distinct):
            return _node(arguments[0], arguments[1])
        return Scalar(arguments[1])
    if origin in (Union, UnionType):
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        return Nullable(_node(inner, None))
    if origin is tuple:
        length = None if arguments[-1] is Ellipsis else len(arguments)
        return Array(_node(arguments[0], None), array_rule, length)
    return Nested(hint)


class Record:
    """Base of the records: frozen, slotted, keyword-only dataclasses whose instances are valid."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Check everything.

        Raises:
            SchemaError: The first failure, in the order of the fields, then of the laws.
        """
        sink: list[Problem] = []
        shape = shape_of(type(self))
        for name, node, judge, _ in shape.members:
            value = getattr(self, name)
            if judge is None or judge(value) is not None:  # as in ``read``
                node.read(value, f"/{name}", sink, True)
        if not sink:
            for check in shape.laws:
                sink.extend(check.check(self))
        if sink:
            raise_first(sink, type(self).__name__)


def raise_first(problems: list[Problem], name: str) -> None:
    """Raise the first of some problems.

    Raises:
        SchemaError: Always.
    """
    code, at, expected, actual = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise SchemaError(code, f"{name}: expected {expected}, found {actual}{more}", at=at)


def read(cls: type[R], value: Any, at: str, sink: list[Problem]) -> Any:
    """A record from a JSON object, or ``BAD`` with every problem in ``sink``."""
    if type(value) is not dict:
        sink.append(Problem("schema.field.type", at, "an object", type_name(value)))
        return BAD
    shape, before = shape_of(cls), len(sink)
    record, bad = object.__new__(cls), set()
    for name, node, check, put in shape.members:
        if name not in value:
            sink.append(Problem("schema.field.missing", f"{at}/{name}", "a field of the record", "none"))
            bad.add(name)
            continue
        item = value[name]
        if check is None or check(item) is not None:  # a plain value in order costs no call and no pointer
            item = node.read(item, f"{at}/{name}", sink, False)
            if item is BAD:
                bad.add(name)
                continue
        put(record, item)
    if len(value) + len(bad) > len(shape.nodes):
        sink.extend(_unknown(key, at, shape) for key in value if key not in shape.nodes)
    for needs, law_of in shape.laws:
        if not (bad and needs & bad):
            for found in law_of(record):
                sink.append(found._replace(at=at + found.at))
    return record if len(sink) == before else BAD


def _unknown(key: str, at: str, shape: Shape) -> Problem:
    """An unknown key is named only if it is a word: any other text may be content."""
    known = ", ".join(shape.nodes)
    if type(key) is str and len(key) <= 64 and _WORD.problem(key) is None:
        return Problem("schema.field.unknown", f"{at}/{key}", f"only {known}", "another field")
    return Problem("schema.field.unknown", at, f"only {known}", "a key that is no word")
