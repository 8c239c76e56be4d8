/**
 * Named errors, equal to those of the Python package, and the content hashes of its bundles (tests/repo/test_web.py
 * compares both).
 */

export const DEFAULT_BUNDLE_ID = "3035258fdf182fdff2fe9f9af9ab71c7daebe004280554246aae6d28ce509010";
export const DEFAULT_ENCODER_ID = "fc94e8ad9143461a58e5ae291f24e812f7f6f70220ff72e8f6fba4acbbdcf5ad";
/** Base class of all errors of this package. The attribute `code` is stable across versions and safe to log. */
export class TextveilError extends Error {
  override readonly name: string = "TextveilError";
  readonly code: string = "textveil";
}
/** Base class of the errors for bundles (folders with word lists, tables or a model) that cannot be used. */
export class BundleError extends TextveilError {
  override readonly name: string = "BundleError";
  override readonly code: string = "bundle";
}
/** The given folder is missing or is not a bundle (data folder), or a language pack is not installed. */
export class BundleNotFound extends BundleError {
  override readonly name: string = "BundleNotFound";
  override readonly code: string = "bundle-not-found";
}
/** A file of a bundle (folder with word lists, tables or a model) is missing, truncated, altered or malformed. */
export class BundleDamaged extends BundleError {
  override readonly name: string = "BundleDamaged";
  override readonly code: string = "bundle-damaged";
}
/** A file of a bundle (data folder) is too large, or all files together exceed the limit `max_bytes`. */
export class BundleTooLarge extends BundleError {
  override readonly name: string = "BundleTooLarge";
  override readonly code: string = "bundle-too-large";
}
/** The bundle (data folder) has a format version that this version of the package does not read. */
export class BundleVersion extends BundleError {
  override readonly name: string = "BundleVersion";
  override readonly code: string = "bundle-version";
}
/** The bundle (data folder) is for another output (text, vectors or class labels) than the caller needs. */
export class WrongBundle extends BundleError {
  override readonly name: string = "WrongBundle";
  override readonly code: string = "bundle-type";
}
/** The hash of the bundle (data folder) differs from the expected hash `expect_id`. The bundle may still be valid. */
export class ContentHashMismatch extends BundleError {
  override readonly name: string = "ContentHashMismatch";
  override readonly code: string = "bundle-content-hash";
}
/** An option is unknown, or its value is not supported. */
export class OptionError extends TextveilError {
  override readonly name: string = "OptionError";
  override readonly code: string = "option";
}
/** The mechanism (method of randomizing) is unknown, or the bundle (data folder) lacks its tables. */
export class UnknownMechanism extends OptionError {
  override readonly name: string = "UnknownMechanism";
  override readonly code: string = "unknown-mechanism";
}
/** The bundle (data folder) has no parameters for the requested epsilon. */
export class UnknownLevel extends OptionError {
  override readonly name: string = "UnknownLevel";
  override readonly code: string = "unknown-epsilon";
}
/** The package onnxruntime is not installed, or its version may use the network. */
export class EncoderUnavailable extends TextveilError {
  override readonly name: string = "EncoderUnavailable";
  override readonly code: string = "encoder-unavailable";
}
/** The input is not a text, or has an unsupported format. */
export class InputError extends TextveilError {
  override readonly name: string = "InputError";
  override readonly code: string = "input";
}
/** A document has too many words to replace with the option `consistent`. */
export class DocumentTooLong extends InputError {
  override readonly name: string = "DocumentTooLong";
  override readonly code: string = "document-too-long";
}
/** A result of `restore` was passed to a JSON encoder. Pass the result's `.text` or `.to_dict()` instead. */
export class RestoredNotJson extends TextveilError {
  override readonly name: string = "RestoredNotJson";
  override readonly code: string = "restored-not-json";
}
/** The operating system returned no random bytes, or bytes that are not random. No output was returned. */
export class EntropyFailed extends TextveilError {
  override readonly name: string = "EntropyFailed";
  override readonly code: string = "entropy";
}
