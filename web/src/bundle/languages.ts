/** Language packs: bundles for the mode `names` in one language, and their union for texts in several languages. */

import { types } from "../data.js";
import { OptionError } from "../errors.js";
import { FUNCTION, NamesLists } from "./namesFiles.js";
import { computeSha256 } from "./open.js";
import { joinReplyData } from "./replyRules.js";
import { Rules } from "./rules.js";

const LANGUAGES = /^[a-z]{2,3}(?:\+[a-z]{2,3}){0,3}$/;
/**
 * Entity types whose members are names. The joined lists never keep a word that a pack lists as a name and does not
 * keep.
 */
const NAME_TYPES = [...types.closed, ...types.whole];

/**
 * Split the value of the option `language`, such as `de+en`, into language tags.
 *
 * @throws OptionError A part is not a language tag, a language occurs twice, or the number of languages is not `count`.
 */
export function splitLanguages(language: unknown, count: number): string[] {
  if (typeof language !== "string" || !LANGUAGES.test(language)) {
    throw new OptionError("language must be two or three letters such as de, or several languages such as de+en");
  }
  const languages = language.split("+");
  if (new Set(languages).size < languages.length) throw new OptionError("language: name each language once");
  if (languages.length !== count)
    throw new OptionError("language: name one language for each bundle, in the order of the bundles");
  return languages;
}

/** Check that a bundle is for the requested language. */
export function checkLanguage({ language: found }: { readonly language: string }, language: unknown): void {
  const [wanted] = splitLanguages(language, 1);
  if (found !== wanted) {
    throw new OptionError(
      `this bundle is for the language ${found}, not ${wanted}: omit language, or choose another bundle`,
    );
  }
}

/** Return the content hash of joined packs: the SHA-256 of the content hashes of the packs, in order. */
export const hashJoined = (bundles: readonly { readonly contentHash: string }[]): Promise<string> =>
  computeSha256(new TextEncoder().encode(bundles.map(({ contentHash }) => contentHash).join("+")));

/**
 * Join the lists of several languages. The joined lists keep a word if one language keeps it, unless another language
 * lists the word as a name and does not keep it. They keep the function words of all languages. Surrogates and patterns
 * are those of the first language.
 */
export function joinLists(lists: readonly NamesLists[]): NamesLists {
  const [first] = lists as [NamesLists];
  const unite = (choose: (of: NamesLists) => Iterable<string>): Set<string> =>
    new Set(lists.flatMap((of) => [...choose(of)]));
  const names = lists.map((of) => new Set(NAME_TYPES.flatMap((type) => [...of.getMembers(type)])));
  const common = new Map<string, number>();
  for (const { commonWords } of lists) {
    for (const [word, flags] of commonWords) {
      const isName = lists.some((other, index) => names[index]?.has(word) && !other.commonWords.has(word));
      if (!isName || flags & FUNCTION) common.set(word, (common.get(word) ?? 0) | flags);
    }
  }
  const pools = [...first.surrogatePools].map(([type, pool]): [string, readonly string[]] => {
    const apart = type.startsWith("word") ? pool.filter((name) => !common.has(name.toLowerCase())) : [];
    return [type, apart.length > 0 ? apart : pool];
  });
  return Object.assign(Object.create(NamesLists.prototype), first, {
    commonWords: common,
    keptCapitals: unite((of) => of.keptCapitals),
    keptSymbols: unite((of) => of.keptSymbols),
    membersByType: new Map([...first.membersByType.keys()].map((type) => [type, unite((of) => of.getMembers(type))])),
    surrogatePools: new Map(pools),
    factLists: Object.fromEntries(Object.keys(first.factLists).map((kind) => [kind, new Set()])),
    rules: joinRules(lists.map((of) => of.rules)),
  });
}

/** Return the rules of the first language with the word lists of all languages, but without words for public facts. */
function joinRules(rules: readonly Rules[]): Rules {
  const all = rules.map(({ data }) => data);
  const [first] = all as [Rules["data"]];
  const unite = (choose: (data: Rules["data"]) => readonly string[]): string[] => [...new Set(all.flatMap(choose))];
  const { clitics, names, sentences, optional } = first;
  return new Rules({
    ...first,
    language: all.map(({ language }) => language).join("+"),
    clitics: {
      ...clitics,
      before: unite((data) => data.clitics.before),
      after: unite((data) => data.clitics.after),
      negation: all.find((data) => data.clitics.negation !== "")?.clitics.negation ?? "",
      negation_stems: unite((data) => data.clitics.negation_stems),
    },
    names: {
      ...names,
      connectors: unite((data) => data.names.connectors),
      legal_forms: unite((data) => data.names.legal_forms),
      function_words: unite((data) => data.names.function_words),
      also_persons: unite((data) => data.names.also_persons),
    },
    sentences: {
      ...sentences,
      abbreviations: unite((data) => data.sentences.abbreviations),
      headline_words: unite((data) => data.sentences.headline_words),
    },
    optional: { ...optional, facts: {}, replies: joinReplyData(all.map(({ optional }) => optional?.replies ?? {})) },
  });
}
