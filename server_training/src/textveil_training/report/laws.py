"""The law under which text was sanitised, as run records have it: the terms of a privacy statement."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from textveil_training.errors import RecordError
from textveil_training.report.fields import Fields

CERTIFIED, TEXTBOOK, PURE_LDP = "certified", "textbook", "pure LDP"
"""Kinds of epsilon. One is never drawn on another's axis, nor averaged with it."""

AXES = {
    CERTIFIED: "certified epsilon, per unit of distance",
    TEXTBOOK: "textbook epsilon, per unit of distance",
    PURE_LDP: "pure LDP level, per token",
}
_MECHANISMS = ("random", "krr", "fbdd", "santext", "santext+")


@dataclass(frozen=True)
class Law:
    """Equal for records that belong together: bundle, mechanism, tail, epsilon and its kind, p, and strictness.

    Attributes:
        bundle: Identity.
        mechanism: Name.
        tail: ``exact``, ``capped``, or empty.
        epsilon: Per token; None or 0 where nothing is learned.
        kind: Of epsilon: one of ``AXES``, or another name as it stands in the record.
        replacement_probability: SanText+'s p, or None.
        strict: Whether punctuation was sanitised too.
        releases: Independent outputs of one text among the rows: its charge is that of one, times so many.
        level: Name of the level, or empty.
        bundle_name: Or empty.
        epsilon_0: SanText+'s second term, ln(1/p) and rounding.
        share: SanText+'s w, or None where the record does not have it.
        pure_ldp: Largest log-ratio whatever the distance, or None where it is not known.
        nominal: The epsilon of a publication that this level stands for, or None.
        case: As in the terms.
    """

    bundle: str
    mechanism: str
    tail: str
    epsilon: float | None
    kind: str
    replacement_probability: float | None
    strict: bool
    releases: int = 1
    level: str = field(default="", compare=False)
    bundle_name: str = field(default="", compare=False)
    epsilon_0: float = field(default=0.0, compare=False)
    share: float | None = field(default=None, compare=False)
    pure_ldp: float | None = field(default=None, compare=False)
    nominal: float | None = field(default=None, compare=False)
    case: str = field(default="", compare=False)

    @property
    def learns(self) -> bool:
        """Whether an output says anything about its input."""
        return self.epsilon is not None and self.epsilon > 0

    @property
    def order(self) -> tuple[object, ...]:
        """For rows of a table."""
        place = _MECHANISMS.index(self.mechanism) if self.mechanism in _MECHANISMS else len(_MECHANISMS)
        numbers = (self.share, self.replacement_probability, self.epsilon)
        wide = [-1.0 if number is None else number for number in numbers]
        return place, self.mechanism, self.bundle_name, self.bundle, wide[0], wide[1], self.tail, self.kind, wide[2]

    @property
    def ldp(self) -> float | None:
        """The pure LDP level, where there is one."""
        return self.epsilon if self.kind == PURE_LDP and self.learns else self.pure_ldp

    @property
    def name(self) -> str:
        """Of the bundle: its name, or the beginning of its identity."""
        return self.bundle_name or self.bundle[:8]


def told_together(laws: Iterable[Law]) -> dict[Law, Law]:
    """For each law what records of it say together: one kind of record knows more of a law than another."""
    found: dict[Law, Law] = {}
    for law in laws:
        known = found.get(law, law)
        found[law] = replace(
            known,
            level=known.level or law.level,
            bundle_name=known.bundle_name or law.bundle_name,
            share=law.share if known.share is None else known.share,
            pure_ldp=law.pure_ldp if known.pure_ldp is None else known.pure_ldp,
            nominal=law.nominal if known.nominal is None else known.nominal,
        )
    return found


def law_of(fields: Fields, *, needs_bundle: bool = True) -> Law | None:
    """The law of a record; None for raw text.

    Raises:
        RecordError: It lacks its mechanism, its bundle or the kind of its epsilon, or a value is out of range.
    """
    if fields.at("law") is None:
        return None
    fields.part("law")
    epsilon = fields.number("law.epsilon", 0)
    kind = fields.text("law.epsilon_kind")
    if epsilon is not None:
        fields.needed("law.epsilon_kind", kind)
    strict = fields.at("law.strict")
    if strict is not None and not isinstance(strict, bool):
        raise RecordError("law.strict is not true or false", fields.place)
    releases = fields.number("law.releases", 1, 2**53)
    bundle = fields.text("law.bundle")
    return Law(
        bundle=fields.needed("law.bundle", bundle) if needs_bundle else bundle or "",
        mechanism=fields.needed("law.mechanism", fields.text("law.mechanism")),
        tail=fields.text("law.tail") or "",
        epsilon=epsilon,
        kind=_kind(kind or ""),
        replacement_probability=fields.number("law.replacement_probability", 0, 1),
        strict=bool(strict),
        releases=1 if releases is None else int(releases),
        level=fields.text("law.level") or "",
        bundle_name=fields.text("law.bundle_name") or "",
        epsilon_0=fields.number("law.epsilon_0", 0) or 0.0,
        share=fields.number("law.share", 0, 1),
        pure_ldp=fields.number("law.pure_ldp", 0),
        nominal=fields.number("law.nominal_epsilon", 0),
        case=fields.text("law.case") or "",
    )


def _kind(name: str) -> str:
    """Statements say "certified metric DP", "textbook metric DP" and "pure local DP"."""
    for kind in (CERTIFIED, TEXTBOOK):
        if name.startswith(kind):
            return kind
    return PURE_LDP if name.startswith("pure") else name


def kinds_of(laws: Iterable[Law]) -> list[str]:
    """The kinds of epsilon of some laws, the best known first."""
    found = {law.kind for law in laws if law.learns}
    return [*(kind for kind in AXES if kind in found), *sorted(found - set(AXES))]
