/** Titles and offices that are family names, since they directly follow a first name: *Mark King*. */

import { LOWER, UPPER } from "../segmentation/words.js";
import { CAPITALIZED_RUN } from "./entitySpans.js";
import type { EntityMention } from "./entityTypes.js";
import { findPart, JOINS } from "./keptMentions.js";

type Elements = readonly (string | EntityMention)[];

/** Return the elements, and join each title or office that is a family name to the first name before it. */
export function joinTitleSurnames(elements: Elements): Elements {
  const joined: (string | EntityMention)[] = [];
  for (let index = 0; index < elements.length; index++) {
    const name = elements[index] as string | EntityMention;
    joined.push(name);
    if (typeof name === "string" || !lacksSurname(name)) continue;
    const [gap, atTitle] = readGap(elements, index + 1);
    const [gapAfter, afterTitle] = readGap(elements, atTitle + 1);
    const title = elements[atTitle] as EntityMention | undefined;
    const following = elements[afterTitle] as EntityMention | undefined;
    if (title === undefined || !mayBeSurname(name, gap, title)) continue;
    if (following !== undefined && findPart(following) !== "other" && JOINS.name.has(gapAfter)) continue;
    joined[joined.length - 1] = joinName(name, gap, title);
    index = atTitle;
  }
  return joined;
}

/** Return the kept text from an index on, and the index of the mention after it. */
function readGap(elements: Elements, start: number): [string, number] {
  let [gap, index] = ["", start];
  for (; typeof elements[index] === "string"; index++) gap += elements[index];
  return [gap, index];
}

/** Return whether a mention consists of first names and initials, or is a single name of unknown kind. */
function lacksSurname({ entityType, parts }: EntityMention): boolean {
  return entityType === "family" || parts.every((part) => part.entityType === "given" || part.entityType === "initial");
}

/** Return whether a mention is a title or an office that may be the family name of the name before it. */
function mayBeSurname(name: EntityMention, gap: string, title: EntityMention): boolean {
  const [part, { span }] = [findPart(name), title];
  if (part === "other" || findPart(title) !== "title" || span.layout !== "" || span.case === LOWER) return false;
  return gap === " " || (part === "initial" && gap.startsWith(".") && JOINS.initial.has(gap));
}

function joinName(name: EntityMention, gap: string, title: EntityMention): EntityMention {
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
