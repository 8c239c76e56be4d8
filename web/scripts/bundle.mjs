/** Bundles the compiled modules into `dist/textveil.js`, and shortens properties that are long, frequent and internal. */

import { build } from "esbuild";

/** Properties that no caller sees and no key of a file names. */
const INTERNAL = [
  ..."afterOddBackslashes beginsAsGroup beginsClause beginsLine beginsSentence bracketClosed characters".split(" "),
  ..."classifySpan classifyToken classifyWord commandName commandState commonWords cutAfter cutBefore".split(" "),
  ..."destination endsInInitial endsYearRange entityType entityTypes escapedAngles factLists factWords".split(" "),
  ..."findEmoticonEnd findWordEnd followsDegrees followsNumber followsStop followsTab followsWord getClass".split(" "),
  ..."getFlags getMembers getPattern getWord hasCapitalBeside hasFactWords hasInSentence hasLetter".split(" "),
  ..."hasNumbers hasOnlyYearsBeside hasPlainDigits hasSpelledNumber hasUsefulWords hasWordBeside isAcronym isAddressed".split(
    " ",
  ),
  ..."isAdjective isAge isAuxiliary isBarePlace isCamel isCasedUnit isCodeConstant isCodeName isCompany".split(" "),
  ..."isConsistent isCountryVariety isDegree isDetermined isDoubledBackslash isElided isElidedBefore".split(" "),
  ..."isEmptyLine isErrorPlace isForeignWord isFunctionWord isHeading isHeadingPlace isHidden isIndented".split(" "),
  ..."isKept isKeptNumber isKeptRun isKeptString isKeptUnit isKeptWord isLabel isLabelLetter isLabeledNoun".split(" "),
  ..."isLanguagePlace isLinked isListItem isListedName isMonthPlace isMonthRange isNoun isNounPlace".split(" "),
  ..."isPartyPlace isPathWord isPerson isPiece isPlain isPlainStart isPlainWord isPlural isPublic".split(" "),
  ..."isPublicName isPublicRun isRare isSentence isShared isSingleLetter isStart isSurname isSurrogate".split(" "),
  ..."isSymbol isTainted isTerm isUnit isUseful isVariety isVarietyPlace isWordList keepsFunctionWords".split(" "),
  ..."keptCapitals keptCount keptTypes lastCharacter lexicon listWordsBefore membersByType mentions".split(" "),
  ..."nameText namesLists notation numberConnectors openBraces openBrackets openRegions permitsEverything".split(" "),
  ..."popRegion precedesCapital precedesName precedingWord pushRegion sanitizesPunctuation segmenter".split(" "),
  ..."spellSurrogate strings surrogateIndex surrogatePools templateBraces titleCaseWords tokenClass".split(" "),
  ..."topRegion typeIndex".split(" "),
];

await build({
  entryPoints: ["dist/index.js"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  mangleProps: new RegExp(`^(${INTERNAL.join("|")})$`),
  outfile: "dist/textveil.js",
  logLevel: "warning",
});
