/** Mentions that the option `keep` covers. A word of a closed type is kept only if no name is beside it. */

import { characters } from "../../data.js";
import { LOWER, UPPER } from "../segmentation/words.js";
import { CAPITALIZED_RUN, LONE_INITIAL } from "./entitySpans.js";
import type { EntityMention } from "./entityTypes.js";

const CLOSED = new Set(["group", "month", "number-word", "weekday"]);
const TITLES = new Set(["title", "office"]);
/** Types of words that may also be first names (`Christian`, `June`). */
const FIRST = new Set(["group", "month"]);
const RUNS = new Set([CAPITALIZED_RUN, LONE_INITIAL]);
const { gaps: data } = characters;
/** For each mention that may be the other part of a name: the gaps that join a word to it. */
const JOINS = {
  name: new Set(data.joins),
  initial: new Set([...data.joins, ...data.joins_initials]),
  title: new Set([" ", ". "]),
  other: new Set<string>(),
};
const NAME_COMMA = ", ";
const ENTRY_END = /(?:[\n\r;]|; |^)$/;

type NamePart = keyof typeof JOINS;

/**
 * Return kept texts and mentions in turn, with the mentions that `isCovered` covers as kept text. Each title that is a
 * family name is joined to the first name before it.
 */
export function mergeKeptMentions(
  elements: readonly (string | EntityMention)[],
  isCovered: (mention: EntityMention) => boolean,
): (string | EntityMention)[] {
  const allGaps: string[] = [""];
  const found: EntityMention[] = [];
  for (const element of elements) {
    if (typeof element === "string") allGaps[found.length] += element;
    else {
      found.push(element);
      allGaps.push("");
    }
  }
  const gaps = allGaps.slice(0, 1);
  const mentions: EntityMention[] = [];
  for (let index = 0; index < found.length; index++) {
    const [name, title, next] = found.slice(index, index + 3) as [EntityMention, EntityMention?, EntityMention?];
    const [gap, gapAfter] = allGaps.slice(index + 1, index + 3) as [string, string];
    const precedesName = next !== undefined && findPart(next) !== "other" && JOINS.name.has(gapAfter);
    const isJoined = title !== undefined && !precedesName && isTitleSurname(name, gap, title);
    mentions.push(isJoined ? joinSurname(name, gap, title) : name);
    if (isJoined) index++;
    gaps.push(isJoined ? gapAfter : gap);
  }
  const covered = mentions.map(isCovered);
  const merged: (string | EntityMention)[] = [];
  let keptText = gaps[0] as string;
  let before: NamePart = "other";
  mentions.forEach((mention, index) => {
    const { entityType, text } = mention.span;
    const isClosed = CLOSED.has(entityType);
    const isWord = isClosed || TITLES.has(entityType);
    const next = mentions[index + 1];
    const after = next === undefined || (covered[index + 1] && !TITLES.has(next.span.entityType)) ? undefined : next;
    const isHidden = isWord && isInName(mention, before, gaps[index] as string, gaps[index + 1] as string, after, next);
    if (covered[index] && !isHidden) keptText += text;
    else {
      merged.push(keptText, mention);
      keptText = "";
    }
    if (covered[index] && isWord) before = isHidden && isClosed ? "name" : findPart(mention);
    else before = covered[index] ? "other" : findPart(mention);
    keptText += gaps[index + 1];
  });
  return [...merged, keptText];
}

/** Return which part of a name a mention may be, if the word after it belongs to the same name. */
function findPart({ span }: EntityMention): NamePart {
  if (TITLES.has(span.entityType)) return "title";
  if (!RUNS.has(span.entityType)) return "other";
  return span.endsInInitial || span.entityType === LONE_INITIAL ? "initial" : "name";
}

/** Return whether a word of a closed type is beside a name; `after` is the mention behind it if it is not kept. */
function isInName(
  { span }: EntityMention,
  before: NamePart,
  lead: string,
  gap: string,
  after: EntityMention | undefined,
  next: EntityMention | undefined,
): boolean {
  const isJoined = JOINS[before].has(lead);
  if (TITLES.has(span.entityType)) {
    const precedesName = next !== undefined && RUNS.has(next.span.entityType) && JOINS.title.has(gap);
    return isJoined && (before !== "title" || !precedesName);
  }
  if (isJoined || after === undefined || !RUNS.has(after.span.entityType)) return isJoined;
  return (JOINS.name.has(gap) && FIRST.has(span.entityType)) || (gap === NAME_COMMA && ENTRY_END.test(lead));
}

/** Return whether a title or an office is the family name of the name before it: *Mark King*. */
function isTitleSurname(name: EntityMention, gap: string, { span }: EntityMention): boolean {
  const part = findPart(name);
  if (part === "other" || !TITLES.has(span.entityType) || span.layout !== "" || span.case === LOWER) return false;
  if (name.entityType !== "family" && name.parts.some((one) => !/^(?:given|initial)$/.test(one.entityType)))
    return false;
  return gap === " " || (part === "initial" && data.joins_initials.includes(gap));
}

/** Return a name and the title after it as one person. */
function joinSurname(name: EntityMention, gap: string, title: EntityMention): EntityMention {
  const [before, after] = [name.span, title.span];
  const casePattern = before.case === UPPER ? after.case : before.case;
  const parts = [
    ...name.parts.map((part) => (part.entityType === "family" ? { ...part, entityType: "given" } : part)),
    ...title.parts.map((part) => ({ ...part, entityType: "family" })),
  ];
  const text = before.text + gap + after.text;
  const tokens = [...before.tokens, ...after.tokens];
  const span = { ...before, entityType: CAPITALIZED_RUN, case: casePattern, text, tokens, endsInInitial: false };
  return { entityType: "person", case: casePattern, parts, span, nameText: name.nameText + gap + title.nameText };
}
