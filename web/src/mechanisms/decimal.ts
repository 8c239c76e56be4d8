/** Exact decimals, fractions and exponentials, for computing the integers of a mechanism. */

const DIGITS = /^\s*([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,6}))?\s*$/;
/** Number of bits after the binary point, far more than 60 decimal digits need. */
const PRECISION = 400n;
const HALVINGS = 16n;
const ONE = 1n << PRECISION;
const MAX_EXPONENT = 400;

/** Format an integer with commas between groups of three digits. */
export function formatThousands(value: number | bigint): string {
  return value.toString().replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}

/** Format a count with a noun, such as `1 word` or `2 words`. */
export function formatCount(count: number, noun: string): string {
  return `${formatThousands(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The decimal number `units / 10 ** scale`, with the smallest possible scale. */
export class Decimal {
  private constructor(
    readonly units: bigint,
    readonly scale: number,
  ) {}

  static fromUnits(units: bigint, scale: number): Decimal {
    let [value, indices] = [units, scale];
    while (indices > 0 && value % 10n === 0n) {
      value /= 10n;
      indices--;
    }
    return new Decimal(value, indices);
  }

  /** Parse a decimal number. Return `undefined` for any other text. */
  static parse(text: string): Decimal | undefined {
    const match = DIGITS.exec(text);
    if (match === null) return undefined;
    const [, sign, whole = "", rest = "", exponent = "0"] = match;
    const digits = whole + rest;
    const scale = rest.length - Number(exponent);
    if (digits === "" || Math.abs(scale) > MAX_EXPONENT) return undefined;
    const units = BigInt(digits) * (sign === "-" ? -1n : 1n);
    return scale < 0 ? Decimal.fromUnits(units * 10n ** BigInt(-scale), 0) : Decimal.fromUnits(units, scale);
  }

  equals(other: Decimal): boolean {
    return this.units === other.units && this.scale === other.scale;
  }

  multiply(count: number): Decimal {
    return Decimal.fromUnits(this.units * BigInt(count), this.scale);
  }

  toNumber(): number {
    return Number(this.toString().replaceAll(",", ""));
  }

  /** Return all digits, with commas between groups. */
  toString(): string {
    const digits = this.units.toString().padStart(this.scale + 1, "0");
    const whole = formatThousands(BigInt(digits.slice(0, digits.length - this.scale)));
    return this.scale > 0 ? `${whole}.${digits.slice(-this.scale)}` : whole;
  }

  /** Return whether this decimal is greater than another. */
  exceeds(other: Decimal): boolean {
    return this.units * 10n ** BigInt(other.scale) > other.units * 10n ** BigInt(this.scale);
  }
}

/** Compute e to the power of a decimal from 0 to 16, in units of 2^-400. */
function computeExponential(power: Decimal): bigint {
  const reduced = (power.units << (PRECISION - HALVINGS)) / 10n ** BigInt(power.scale);
  let sum = ONE;
  let term = ONE;
  for (let n = 1n; term > 0n; n++) {
    term = ((term * reduced) >> PRECISION) / n;
    sum += term;
  }
  for (let n = 0n; n < HALVINGS; n++) sum = (sum * sum) >> PRECISION;
  return sum;
}

/** Compute the weight `F` of one unit of budget: (e^epsilon - 1) times `unit`, rounded down. */
export function computeFactor(epsilon: Decimal, unit: bigint): bigint {
  const power = computeExponential(epsilon);
  return ((power - power / 10n ** 58n - ONE) * unit) >> PRECISION;
}

/** Compute `e ** epsilon`, rounded up. */
export function computeLargestOdds(epsilon: Decimal): bigint {
  const power = computeExponential(epsilon);
  return (power + power / 10n ** 40n + ONE - 1n) >> PRECISION;
}

/** Return the quotient of two positive integers as the nearest floating-point number. */
export function divide(dividend: bigint, divisor: bigint): number {
  const scaled = (dividend << 128n) / divisor;
  return Number(scaled | ((dividend << 128n) % divisor ? 1n : 0n)) / 2 ** 128;
}

/** A fraction that is multiplied by an integer with rounding down. */
export class Ratio {
  constructor(
    readonly numerator: bigint,
    readonly denominator: bigint,
  ) {}

  /** Parse `1` or `1/100`. */
  static parse(text: string): Ratio {
    const [over = "0", under = "1"] = text.split("/");
    return new Ratio(BigInt(over), BigInt(under));
  }

  multiplyDown(value: bigint): bigint {
    return (this.numerator * value) / this.denominator;
  }

  get exceedsOne(): boolean {
    return this.numerator > this.denominator;
  }

  /** Return the fraction in lowest terms. */
  toString(): string {
    let [a, b] = [this.numerator, this.denominator];
    while (b) [a, b] = [b, a % b];
    const [over, under] = [this.numerator / a, this.denominator / a];
    return under === 1n ? `${over}` : `${over}/${under}`;
  }
}
