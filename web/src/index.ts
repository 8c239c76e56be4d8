/** textveil: rewrites text on the device, offline: replaces names, or randomizes words with a privacy bound. */

export type { ExpectedBundle } from "./bundle/open.js";
export type { BundleSource } from "./bundle/source.js";
export {
  BundleDamaged,
  BundleError,
  BundleNotFound,
  BundleTooLarge,
  BundleVersion,
  ContentHashMismatch,
  DEFAULT_BUNDLE_ID,
  DEFAULT_ENCODER_ID,
  DocumentTooLong,
  EncoderUnavailable,
  EntropyFailed,
  InputError,
  OptionError,
  RestoredNotJson,
  TextveilError,
  UnknownLevel,
  UnknownMechanism,
  WrongBundle,
} from "./errors.js";
export type { ExplainedPiece } from "./text/explanation.js";
export type { Options } from "./text/options.js";
export type { StreamRestorer } from "./text/replyMatcher.js";
export type { Restorer } from "./text/restore.js";
export { type NotRestored, Restored, RestoreReport } from "./text/restored.js";
export type { RestoreOptions, RestorePlace, SkipReason } from "./text/restorePolicy.js";
export { type Result, type SanitizedDocument, Sanitizer } from "./text/sanitizer.js";
export type { PlainObject, ReleaseStatement } from "./text/statement.js";
export { type EncodeOptions, LabelRelease, TextLabelEncoder } from "./vector/labelEncoder.js";
export { LabelStatement } from "./vector/labelStatement.js";
