/** Sanitizing of texts in the mode `names`, under one set of options. */

import type { NamesLists } from "../../bundle/namesFiles.js";
import type { ReplyRules } from "../../bundle/replyRules.js";
import type { TextBundle } from "../../bundle/textBundle.js";
import { DEFAULT_FACTS, FACTS, NAMES_BATCH_CHARACTERS } from "../../constants.js";
import { types } from "../../data.js";
import { OptionError } from "../../errors.js";
import { drawUniformBelowEach, type RandomUint64 } from "../../mechanisms/entropy.js";
import type { ExplainedPiece } from "../explanation.js";
import { countForeignWords } from "../keptWords.js";
import { type CheckedOptions, parseCap } from "../options.js";
import type { RewrittenDocument } from "../rewrite.js";
import { type CharacterClasses, countCodePoints, L as LETTER, N as NUMERAL } from "../segmentation/characterClasses.js";
import { LOWER } from "../segmentation/words.js";
import { NamesStatement, type ReleaseStatement, type ReplacementStyle } from "../statement.js";
import { DocumentDraws, type ReadText } from "./documentDraws.js";
import { KNOWN_PERSON } from "./entitySpans.js";
import { EntityClassifier, type EntityMention, GivenNameLinker, getPublicType } from "./entityTypes.js";
import { explainPieces, type PreviewPiece } from "./explanation.js";
import { type ErrorsShown, FactRules, listValueTypes } from "./facts.js";
import { COPIED, countOpenBrackets, type JsonPart, NUMBER, splitJson, TEXT, writeEscapes } from "./jsonBlocks.js";
import { collectKeys, Lexicon } from "./lexicon.js";
import { findValueCue } from "./nameCues.js";
import { OwnSurrogatePools, OwnTypes } from "./ownTypes.js";
import { SpanFinder } from "./spans.js";
import { mergeSpelled } from "./spelledTokens.js";
import { JSON_NUMBER_CASE, SurrogatePools } from "./surrogates.js";
import { ChunkTokenizer } from "./tokenizer.js";
import { GAP, type NamesToken } from "./tokens.js";

const [NO_FACTS, PLAIN_FACTS] = FACTS;
type FactsLevel = (typeof FACTS)[number];
const APOSTROPHES = "'\u2019\u2018";

/**
 * Split a text into words, with apostrophes inside them, and the gaps between words. The bundle's classes decide what a
 * letter or number is: an engine may know fewer characters.
 */
function splitWords(text: string, classes: CharacterClasses): [part: string, isWord: boolean][] {
  const characters = [...text];
  const inWords = characters.map((character) => classes.matches(character.codePointAt(0) ?? 0, LETTER | NUMERAL));
  const parts: [string, boolean][] = [];
  for (const [index, character] of characters.entries()) {
    const joins = APOSTROPHES.includes(character) && inWords[index - 1] === true && inWords[index + 1] === true;
    const isWord = inWords[index] === true || joins;
    const last = parts[parts.length - 1];
    if (last?.[1] === isWord) last[0] += character;
    else parts.push([character, isWord]);
  }
  return parts;
}

/** Part of a text that is read by itself: whether the text begins with it, and whether it is a key of JSON. */
interface ReadPart {
  readonly text: string;
  readonly isFirst: boolean;
  /** The copied text directly before it. */
  readonly copiedBefore: string;
  readonly isKey: boolean;
  /** Whether it is a whole text, without JSON. */
  readonly isWhole: boolean;
}

const KEY_END = /^"[ \t\r\n]*:/;

/** Return the parts of a text that are not copied. */
/**
 * Return the value of the option `facts`: at most the value for which the language has words. This is `none` without
 * words before secrets and in addresses, and `plain` without words before headings.
 */
function chooseFacts(lists: NamesLists, level: FactsLevel): FactsLevel {
  if (!lists.hasFactWords) return NO_FACTS;
  return level === NO_FACTS || lists.hasUsefulWords ? level : PLAIN_FACTS;
}

const listReadParts = (parts: readonly JsonPart[]): ReadPart[] =>
  parts.flatMap(({ partType, text }, index) => {
    if (partType === COPIED) return [];
    const next = parts[index + 1];
    const isKey = partType === TEXT && next?.partType === COPIED && KEY_END.test(next.text);
    const last = parts[index - 1];
    const copiedBefore = last?.partType === COPIED ? last.text : "";
    return [{ text, isFirst: index === 0, copiedBefore, isKey, isWhole: parts.length === 1 }];
  });

/** Join the read parts of a text with its copied parts. */
function joinJsonElements(parts: readonly JsonPart[], readNext: () => ReadText): ReadText {
  const elements: (string | EntityMention)[] = [];
  let [keptText, keptCount] = ["", 0];
  for (const part of parts) {
    if (part.partType === COPIED) {
      keptText += part.text;
      continue;
    }
    const partText = readNext();
    keptCount += partText.keptCount;
    let start = 0;
    for (const element of partText.elements) {
      const text = typeof element === "string" ? element : element.span.text;
      const escapedText = writeEscapes(text, part.escapes, start);
      start += text.length;
      if (typeof element === "string") {
        keptText += escapedText;
      } else {
        const span = escapedText === text ? element.span : { ...element.span, escapedText };
        elements.push(
          keptText,
          part.partType === NUMBER ? { ...element, span, case: JSON_NUMBER_CASE } : { ...element, span },
        );
        keptText = "";
      }
    }
  }
  return { elements: [...elements, keptText], keptCount };
}

/** The lists, surrogate pools and options that rewrite texts in the mode `names`. */
export class NamesPlan {
  readonly style: ReplacementStyle;
  readonly facts: FactRules;
  /** Rules about the forms in which a reply in the language may write a surrogate. */
  readonly replyRules: ReplyRules;
  readonly #bundle: TextBundle;
  readonly #surrogates: SurrogatePools;
  readonly #allowed: ReadonlySet<string>;
  readonly #denied: ReadonlySet<string>;
  readonly #ownTypes: OwnTypes | undefined;
  readonly #options: CheckedOptions;

  constructor(bundle: TextBundle, options: CheckedOptions) {
    const lists = bundle.namesLists;
    this.#bundle = bundle;
    this.#options = options;
    this.replyRules = lists.rules.replies;
    const builtIn = new SurrogatePools(lists.surrogatePools, lists.rules);
    const [patterns, known] = [options.patterns ?? new Map<string, string>(), options.known ?? []];
    const hasOwn = patterns.size > 0 || known.length > 0;
    this.#ownTypes = hasOwn ? new OwnTypes(patterns, known, lists, builtIn.entityTypes) : undefined;
    this.#surrogates = patterns.size > 0 ? new OwnSurrogatePools(lists, new Set(patterns.keys())) : builtIn;
    this.#allowed = collectKeys(options.allow ?? [], lists);
    this.#denied = collectKeys(options.deny ?? [], lists);
    const knownTypes = new Set([...builtIn.entityTypes.map(getPublicType), ...patterns.keys()]);
    const [keptTypes, taggedTypes, droppedTypes] = [options.keep, options.tag, options.drop].map((classifier = []) => {
      if (!classifier.every((entityType) => knownTypes.has(entityType))) {
        throw new OptionError(`no such entity type: choose among ${[...knownTypes].sort().join(", ")}`);
      }
      return new Set(classifier);
    }) as [Set<string>, Set<string>, Set<string>];
    if (
      new Set([...keptTypes, ...taggedTypes, ...droppedTypes]).size <
      keptTypes.size + taggedTypes.size + droppedTypes.size
    ) {
      throw new OptionError("an entity type is in two of keep, tag and drop: leave it in one of them");
    }
    const unlisted = [...keptTypes].filter((entityType) => types.unlisted.includes(entityType)).sort();
    if (unlisted.length > 0) {
      throw new OptionError(
        `keep supports only types that a list or a pattern defines, not ${unlisted.join(", ")}: keep single words with allow`,
      );
    }
    const facts = chooseFacts(lists, options.facts ?? DEFAULT_FACTS);
    this.style = {
      usesTags: options.style === "tag",
      consistent: options.consistent ?? true,
      cap: parseCap(options),
      keptTypes,
      taggedTypes,
      droppedTypes,
      valueTypes: listValueTypes(facts),
    };
    const hiddenTypes = new Set([...taggedTypes, ...droppedTypes]);
    this.facts = new FactRules(lists, facts, this.#denied, hiddenTypes, this.style.usesTags);
  }

  statement(tokens: number): ReleaseStatement {
    const { style } = this;
    const [allow, deny] = [this.#allowed.size > 0, this.#denied.size > 0];
    return new NamesStatement(
      {
        bundleHash: this.#bundle.contentHash,
        style,
        facts: this.facts.level,
        hasAllowed: allow,
        hasDenied: deny,
        ownTypes: [...(this.#ownTypes?.names ?? [])].sort(),
        hasKnown: this.#ownTypes?.hasPersons ?? false,
      },
      tokens,
    );
  }

  #makeClassifier(): EntityClassifier {
    const { keptTypes, taggedTypes, droppedTypes, usesTags } = this.style;
    const unchangedTypes = new Set([
      ...keptTypes,
      ...taggedTypes,
      ...droppedTypes,
      ...(usesTags ? Object.keys(types.without_capitals) : []),
    ]);
    return new EntityClassifier(this.#bundle.namesLists, this.#denied, keptTypes, unchangedTypes);
  }

  #makeTokenizer(): ChunkTokenizer {
    return new ChunkTokenizer(new Lexicon(this.#bundle.namesLists, this.#allowed, this.#denied));
  }

  /** Sanitize the documents of one call. */
  rewrite(documents: readonly (readonly string[])[], randomUint64: RandomUint64): RewrittenDocument[] {
    const tokenizer = this.#makeTokenizer();
    const classifier = this.#makeClassifier();
    const documentsOut: RewrittenDocument[] = [];
    let batch: DocumentDraws[] = [];
    let characters = 0;
    const drawAll = (): void => {
      const draws = batch.flatMap((document) => document.draws);
      const samples = drawUniformBelowEach(
        draws.map((draw) => draw.bound),
        randomUint64,
      );
      draws.forEach((draw, index) => {
        draw.surrogateIndex = samples[index] ?? 0;
      });
      for (const document of batch) {
        const tokens = document.readTexts.reduce((sum, text) => sum + text.keptCount, 0);
        const mentions = document.readTexts.flatMap(({ elements: entries }) =>
          entries.filter((element) => typeof element !== "string"),
        );
        const replacedWords = mentions.filter(({ entityType }) => entityType === "word").length;
        const written = document.writeTexts();
        const foreign =
          this.facts.level === NO_FACTS // it keeps no words of other languages
            ? 0
            : countForeignWords(written.texts.join(" "), (word) => this.facts.strings.isForeignWord(word));
        documentsOut.push({ ...written, tokens, replacedWords, foreignWords: Math.min(tokens, foreign) });
      }
      [batch, characters] = [[], 0];
    };
    for (const texts of documents) {
      const linker = new GivenNameLinker();
      const unlinked = this.#readTexts(texts, tokenizer, classifier);
      const linkText = (text: ReadText): ReadText => ({
        ...text,
        elements: text.elements.map((element) => linker.linkNames(element)),
      });
      const readTexts = this.style.consistent ? unlinked.map(linkText) : unlinked;
      batch.push(new DocumentDraws(readTexts, this.style, this.#surrogates));
      characters += texts.reduce((sum, text) => sum + countCodePoints(text), 0);
      if (characters > NAMES_BATCH_CHARACTERS) drawAll();
    }
    drawAll();
    return documentsOut;
  }

  /** Read the texts of a document: possible names in lower case are kept if any text has a capital letter. */
  #readTexts(
    texts: readonly string[],
    tokenizer: ChunkTokenizer,
    classifier: EntityClassifier,
    errorsShown: ErrorsShown = "corrected",
  ): ReadText[] {
    const parts = texts.map(splitJson);
    const readParts = this.#readPlainTexts(parts.flatMap(listReadParts), tokenizer, classifier, errorsShown);
    let index = 0;
    return parts.map((partsOfText) =>
      partsOfText.length === 1
        ? (readParts[index++] as ReadText)
        : joinJsonElements(partsOfText, () => readParts[index++] as ReadText),
    );
  }

  #readPlainTexts(
    parts: readonly ReadPart[],
    tokenizer: ChunkTokenizer,
    classifier: EntityClassifier,
    errorsShown: ErrorsShown,
  ): ReadText[] {
    const { characters } = tokenizer;
    const { rules } = tokenizer.lists;
    const isLetter = (text: string): boolean =>
      characters.allMatch(text.slice(0, (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1), LETTER);
    const tokenizeChunk = (chunk: string): NamesToken[] => tokenizer.tokenizeChunk(chunk);
    let hasCapitals = false;
    const finders = parts.map(({ text: original }) => {
      const masked = this.#ownTypes?.maskText(original, isLetter);
      const text = masked === undefined ? original : masked.text;
      const words: NamesToken[] = [];
      const gaps = [""];
      const addToken = (token: NamesToken): void => {
        if (token.tokenClass === GAP) {
          gaps[gaps.length - 1] += token.text;
          return;
        }
        words.push(token);
        gaps.push("");
      };
      tokenizer.tokenize(text, (token) => {
        if (masked === undefined) addToken(token);
        else for (const filled of masked.fillToken(token, tokenizeChunk)) addToken(filled);
      });
      mergeSpelled(words, gaps, rules);
      hasCapitals ||= words.some((word) => word.case !== LOWER);
      return new SpanFinder(words, gaps, isLetter, rules);
    });
    let [depth, hidesNested] = [-1, false]; // brackets open behind the key of a secret; -1: no such key
    let [cue, cueDepth] = ["", 0]; // the cue that the last key is, and brackets open behind it
    return finders.map((finder, index): ReadText => {
      const { text, isFirst, copiedBefore, isKey, isWhole } = parts[index] as ReadPart;
      if (isFirst) depth = -1;
      if (depth >= 0) depth = countOpenBrackets(copiedBefore, depth);
      cueDepth = cue && !isFirst ? countOpenBrackets(copiedBefore, cueDepth) : -1;
      if (isKey || cueDepth < 0) cue = "";
      const keepsCommon = hasCapitals || (isKey && /^[A-Za-z]+$/.test(text)); // a key of one word
      const elements = classifier.mergeKept(
        finder
          .iterateElements(keepsCommon, cue)
          .map((element) => (typeof element === "string" ? element : classifier.classifySpan(element, hasCapitals))),
      );
      if (this.facts.level === NO_FACTS || (depth >= 0 && !isKey)) {
        if (isKey) [cue, cueDepth] = [findValueCue(elements, rules.facts), 0];
        return { elements, keptCount: finder.keptCount };
      }
      const found = this.facts.keepFacts(
        elements,
        (span) => classifier.classifySpan(span, hasCapitals),
        hasCapitals && isWhole ? errorsShown : "hidden", // keys and values of JSON stay as they are
      );
      if (isKey) [cue, cueDepth] = [findValueCue(found.elements, rules.facts), 0];
      if (isKey && !(depth > 0 && hidesNested)) {
        depth = this.facts.namesSecret(found.elements) ? 0 : -1;
        hidesNested = found.elements.every((element) => typeof element === "string");
      }
      return { elements: found.elements, keptCount: finder.keptCount + found.keptCount };
    });
  }

  /** Return the template of each text, in the form of the golden vectors. */
  listTemplates(texts: readonly string[]): unknown[][] {
    const readTexts = this.#readTexts(texts, this.#makeTokenizer(), this.#makeClassifier());
    return readTexts.map((text) =>
      text.elements.map((element) =>
        typeof element === "string"
          ? element
          : [
              element.entityType,
              ["lower", "Title", "UPPER", "JSON"][element.case],
              element.span.entityType === KNOWN_PERSON ? element.span.layout : element.span.endsInInitial,
              element.span.titleCaseWords,
              element.span.precedingWord,
              ...element.parts.map((part) => [part.entityType, part.layout]),
            ],
      ),
    );
  }

  /** Return each token and gap of a text with its treatment. */
  preview(text: string): [string, string][] {
    return this.#listPieces(text).map(([piece, state]) => [piece, state]);
  }

  /** Return each token and gap of a text with its treatment, its position and the reason. */
  explain(text: string): ExplainedPiece[] {
    const { keptTypes } = this.style;
    const hasOptions = keptTypes.size > 0 || this.facts.level !== NO_FACTS;
    const plain = hasOptions ? new NamesPlan(this.#bundle, { ...this.#options, keep: [], facts: NO_FACTS }) : undefined;
    return explainPieces(this.#listPieces(text), plain === undefined ? [] : plain.#listPieces(text), {
      lexicon: new Lexicon(this.#bundle.namesLists, this.#allowed, this.#denied),
      facts: this.facts,
      keptTypes,
      ownNames: this.#ownTypes?.names ?? new Set(),
    });
  }

  #listPieces(text: string): PreviewPiece[] {
    const [found] = this.#readTexts([text], this.#makeTokenizer(), this.#makeClassifier(), "unchanged");
    return (found?.elements ?? []).flatMap((element): PreviewPiece[] => {
      if (typeof element !== "string")
        return [[element.span.escapedText ?? element.span.text, getPublicType(element.entityType), element]];
      return splitWords(element, this.#bundle.namesLists.segmenter.characters).map(([part, isWord]) => [
        part,
        isWord ? "kept" : "gap",
        undefined,
      ]);
    });
  }
}
