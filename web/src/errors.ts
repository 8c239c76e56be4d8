/**
 * Named errors, equal to those of the Python package, and the content hashes of its bundles (tests/repo/test_web.py
 * compares both).
 */

export const DEFAULT_BUNDLE_ID = "010ad85c09609deec7e113e646b81cbe6c8d7cc1004f8d15fb3e6508089e77df";
export const DEFAULT_ENCODER_ID = "fc94e8ad9143461a58e5ae291f24e812f7f6f70220ff72e8f6fba4acbbdcf5ad";
/** Base of all named errors. `code` is stable across versions and safe to log. */
export class TextveilError extends Error {
  override readonly name: string = "TextveilError";
  readonly code: string = "textveil";
}
/** A bundle cannot be used. */
export class BundleError extends TextveilError {
  override readonly name: string = "BundleError";
  override readonly code: string = "bundle";
}
/** There is no bundle at the given path. */
export class BundleNotFound extends BundleError {
  override readonly name: string = "BundleNotFound";
  override readonly code: string = "bundle-not-found";
}
/** A file of the bundle is missing, truncated, altered or malformed. */
export class BundleDamaged extends BundleError {
  override readonly name: string = "BundleDamaged";
  override readonly code: string = "bundle-damaged";
}
/** A file of the bundle, or all files together, exceed the caller's or a reader's size limit. */
export class BundleTooLarge extends BundleError {
  override readonly name: string = "BundleTooLarge";
  override readonly code: string = "bundle-too-large";
}
/** The bundle has a format version that this release does not read. */
export class BundleVersion extends BundleError {
  override readonly name: string = "BundleVersion";
  override readonly code: string = "bundle-version";
}
/** The bundle has another type than the caller needs: text, vectors or class labels. */
export class WrongBundle extends BundleError {
  override readonly name: string = "WrongBundle";
  override readonly code: string = "bundle-type";
}
/** The bundle does not have the content hash that the caller expects; it may be valid. */
export class ContentHashMismatch extends BundleError {
  override readonly name: string = "ContentHashMismatch";
  override readonly code: string = "bundle-content-hash";
}
/** An option has a value that this bundle or mechanism does not support. */
export class OptionError extends TextveilError {
  override readonly name: string = "OptionError";
  override readonly code: string = "option";
}
/** No mechanism has this name. */
export class UnknownMechanism extends OptionError {
  override readonly name: string = "UnknownMechanism";
  override readonly code: string = "unknown-mechanism";
}
/** The bundle has no such privacy level (epsilon). */
export class UnknownLevel extends OptionError {
  override readonly name: string = "UnknownLevel";
  override readonly code: string = "unknown-epsilon";
}
/** The library that runs encoders is missing, or its version is not verified to stay offline. */
export class EncoderUnavailable extends TextveilError {
  override readonly name: string = "EncoderUnavailable";
  override readonly code: string = "encoder-unavailable";
}
/** The input cannot be read as text. */
export class InputError extends TextveilError {
  override readonly name: string = "InputError";
  override readonly code: string = "input";
}
/** A document has more randomized words, names and numbers than consistent sampling allows. */
export class DocumentTooLong extends InputError {
  override readonly name: string = "DocumentTooLong";
  override readonly code: string = "document-too-long";
}
/** A restored reply object was passed to a JSON encoder; use its `.text` or `.to_dict()`. */
export class RestoredNotJson extends TextveilError {
  override readonly name: string = "RestoredNotJson";
  override readonly code: string = "restored-not-json";
}
/** The operating system's random bytes are missing or unusable. Nothing was released. */
export class EntropyFailed extends TextveilError {
  override readonly name: string = "EntropyFailed";
  override readonly code: string = "entropy";
}
