/** Templates of surrogates: text, and fields in braces with a number of values each (docs/format-rules.md). */

/** A pool or a choice, a range of letters, or a range of hexadecimal or decimal numbers, with a step. */
const FIELD =
  /\{(?:([a-z]+)|([A-Za-z])-([A-Za-z])|0x([0-9a-f]{1,10})-0x([0-9a-f]{1,10})|([0-9]{1,12})-([0-9]{1,12})(?:\/([1-9][0-9]?))?)\}/;

type Choices = Readonly<Record<string, readonly string[]>>;

/** A field: how many values it has, and the value with a number. */
interface TemplateField {
  readonly count: number;
  readonly format: (index: number) => string;
}

const FOLD_BY_POOL: Readonly<Record<string, (entry: string) => string>> = {
  given: (entry) => entry.toLowerCase(),
  family: (entry) => entry.replace(/[^\p{L}]/gu, "").toLowerCase(),
};

function parseField(field: string, choices: Choices): TemplateField {
  const [, name, low, high, hex, to, first = "", last, step = "1"] = FIELD.exec(field) ?? [];
  if (name !== undefined) {
    const entries = Object.hasOwn(choices, name) ? (choices[name] ?? []) : [];
    return { count: entries.length, format: (index) => (FOLD_BY_POOL[name] ?? String)(entries[index] ?? "") };
  }
  const [radix, digits] = hex === undefined ? [10, first] : [16, hex];
  const start = low === undefined ? Number.parseInt(digits, radix) : low.charCodeAt(0);
  const end = high === undefined ? Number.parseInt(to ?? last ?? "", radix) : high.charCodeAt(0);
  return {
    count: Math.max(0, Math.floor((end - start) / Number(step)) + 1),
    format: (index) => {
      const value = start + Number(step) * index;
      return low === undefined ? value.toString(radix).padStart(digits.length, "0") : String.fromCharCode(value);
    },
  };
}

/** Returns the text and the fields of a template in turn; malformed fields are text with a brace. */
export function splitTemplate(template: string): string[] {
  const parts: string[] = [];
  let rest = template;
  for (let match = FIELD.exec(rest); match !== null; match = FIELD.exec(rest)) {
    parts.push(rest.slice(0, match.index), match[0]);
    rest = rest.slice(match.index + match[0].length);
  }
  return [...parts, rest];
}

/** Returns the fields of a template. */
export const parseFields = (template: string, choices: Choices): TemplateField[] =>
  splitTemplate(template)
    .filter((_, index) => index % 2 === 1)
    .map((field) => parseField(field, choices));

/** Returns the number of surrogates of a template. */
export const countSurrogates = (template: string, choices: Choices): number =>
  parseFields(template, choices).reduce((product, field) => product * field.count, 1);

/** Returns a surrogate by its number; the last field is the least significant. */
export function writeTemplate(template: string, choices: Choices, index: number): string {
  const parts = splitTemplate(template);
  let left = index;
  for (let index = parts.length - 2; index > 0; index -= 2) {
    const field = parseField(parts[index] ?? "", choices);
    parts[index] = field.format(left % field.count);
    left = Math.floor(left / field.count);
  }
  return parts.join("");
}
