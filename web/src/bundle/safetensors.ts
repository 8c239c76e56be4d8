/** Strict parser of safetensors files, for aligned arrays without gaps, of types that the caller allows. */

import { BundleDamaged, BundleTooLarge } from "../errors.js";
import { type JsonObject, parseArray, parseInteger, parseJson, parseRecord, parseText } from "./json.js";

const MAX_HEADER_BYTES = 1 << 20;
const MAX_AXES = 8;
const MAX_COUNT = Number.MAX_SAFE_INTEGER;

const TYPES = {
  U8: Uint8Array,
  I8: Int8Array,
  U16: Uint16Array,
  U32: Uint32Array,
  I64: BigInt64Array,
  F32: Float32Array,
};
type TypeArrays = typeof TYPES;

/** The arrays of one safetensors file. */
export class TensorFile {
  readonly #entries = new Map<string, { type: string; shape: number[]; begin: number; end: number }>();
  readonly #start: number;

  constructor(
    readonly content: Uint8Array,
    readonly name: string,
    types: readonly (keyof TypeArrays)[],
  ) {
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    const size = content.length < 8 ? MAX_COUNT : view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
    if (size > MAX_HEADER_BYTES || 8 + size > content.length || content[8] !== 0x7b) {
      throw new BundleDamaged(`${name}: the header is truncated or malformed`);
    }
    this.#start = 8 + size;
    let header: JsonObject;
    try {
      header = parseJson(content.subarray(8, this.#start), name, false);
    } catch (error) {
      if (error instanceof BundleTooLarge) throw new BundleDamaged(`${name}: the header has too many values`);
      throw error;
    }
    for (const [array, value] of header) {
      if (array === "__metadata__") continue;
      const fields = parseRecord(value, ["dtype", "shape", "data_offsets"], name);
      const shape = parseArray(fields.get("shape"), name, MAX_AXES).map((axis) =>
        parseInteger(axis, 0, MAX_COUNT, name),
      );
      const offsets = parseArray(fields.get("data_offsets"), name, 2).map((index) =>
        parseInteger(index, 0, MAX_COUNT, name),
      );
      const type = parseText(fields.get("dtype"), name);
      if (!(types as readonly string[]).includes(type))
        throw new BundleDamaged(`${name}: a value is not one of the allowed strings`);
      const [begin, end] = offsets;
      if (begin === undefined || end === undefined || shape.reduce((a, b) => a * Math.max(1, b), 1) > MAX_COUNT) {
        throw new BundleDamaged(`${name}: an array has an unsupported type or shape`);
      }
      this.#entries.set(array, { type, shape, begin, end });
    }
    let expected = 0;
    for (const entry of [...this.#entries.values()].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
      const bytes = TYPES[entry.type as keyof TypeArrays].BYTES_PER_ELEMENT;
      const count = entry.shape.reduce((a, b) => a * b, 1);
      if (
        entry.begin !== expected ||
        entry.end - entry.begin !== count * bytes ||
        this.#start + entry.end > content.length
      ) {
        throw new BundleDamaged(`${name}: the arrays must fill the file without gaps or overlaps`);
      }
      if ((this.#start + entry.begin) % bytes)
        throw new BundleDamaged(`${name}: an array does not begin at a multiple of its item size`);
      expected = entry.end;
    }
    if (this.#start + expected !== content.length)
      throw new BundleDamaged(`${name}: the arrays must fill the file without gaps or overlaps`);
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  /** Return an array. Throw `BundleDamaged` if it is missing or has another type or shape (-1 allows any size). */
  get<Type extends keyof TypeArrays>(
    name: string,
    type: Type,
    shape: readonly number[],
  ): InstanceType<TypeArrays[Type]> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new BundleDamaged(`${this.name}: a required array is missing`);
    const fits =
      entry.type === type &&
      entry.shape.length === shape.length &&
      shape.every((axis, index) => axis < 0 || axis === entry.shape[index]);
    if (!fits) throw new BundleDamaged(`${this.name}: an array has a wrong shape or type`);
    const start = this.content.byteOffset + this.#start + entry.begin;
    const bytes = this.content.buffer.slice(start, start + entry.end - entry.begin);
    return new TYPES[type](bytes as ArrayBuffer) as InstanceType<TypeArrays[Type]>;
  }

  /** Return the shape of an array. */
  shape(name: string): readonly number[] {
    return this.#entries.get(name)?.shape ?? [];
  }
}
