/** textveil: rewrites text on the device, offline, with a true differential-privacy bound. */

export type { ExpectedBundle } from "./bundle/open.js";
export type { BundleSource } from "./bundle/source.js";
export { type EncodeOptions, LabelRelease, LabelStatement, TextLabelEncoder } from "./encoder.js";
export {
  BundleDamaged,
  BundleError,
  BundleNotFound,
  BundleTooLarge,
  BundleVersion,
  DEFAULT_BUNDLE_ID,
  DEFAULT_ENCODER_ID,
  DocumentTooLong,
  EncoderUnavailable,
  EntropyFailed,
  IdentityMismatch,
  InputError,
  OptionError,
  RestoredNotJson,
  TextveilError,
  UnknownLevel,
  UnknownMechanism,
  WrongBundle,
} from "./errors.js";
export type { Options } from "./options.js";
export type { RestoreOptions, RestorePlace, SkipReason } from "./policy.js";
export type { StreamRestorer } from "./replies.js";
export type { Restorer } from "./restore.js";
export { type NotRestored, Restored, RestoreReport } from "./restored.js";
export { type Result, type SanitizedDocument, Sanitizer } from "./sanitizer.js";
export type { PlainObject, ReleaseStatement } from "./statement.js";
