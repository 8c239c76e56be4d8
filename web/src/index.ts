/** textveil: rewrites text on the device, offline, with a true differential-privacy bound. */

export type { Pins } from "./bundle/open.js";
export type { Source } from "./bundle/source.js";
export { type EncodeOptions, IndexEncoder, IndexRelease, IndexStatement } from "./encoder.js";
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
export type { RestoreStream } from "./replies.js";
export type { Restorer } from "./restore.js";
export { type NotRestored, Restored, RestoreReport } from "./restored.js";
export { type DocumentResult, type Result, Sanitizer } from "./sanitizer.js";
export type { Facts, Statement } from "./statement.js";
