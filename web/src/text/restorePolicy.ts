/** The options of restoring: in which places of a reply originals are put, and the reasons for which surrogates stay. */

import { OptionError } from "../errors.js";
import { isCollection } from "./options.js";
import { isWordCharacter } from "./replyChunk.js";

/** A place that an option opens; `all` opens every place, links and markup too. */
export type RestorePlace = "code" | "json" | "math" | "all";

/** The options of restoring. Without any, originals are put into running text alone. */
export interface RestoreOptions {
  /** Places that are opened; `all` only for a reply that nothing displays or fetches. */
  readonly restorePlaces?: Iterable<RestorePlace> | "all" | undefined;
  /** Hosts whose links are restored, each with its port if it has one, such as `docs.example.com`. */
  readonly restoreHosts?: Iterable<string> | undefined;
}

/**
 * Why a surrogate stays in a reply: its place; or `ambiguous`, it stands for more than one original; or `word`, it may be
 * a word of the reply that is no surrogate.
 */
export type SkipReason = "link" | "code" | "math" | "json" | "markup" | "active" | "chunk" | "ambiguous" | "word";

const PERMITTED_REGIONS: readonly string[] = ["code", "json", "math", "all"];
const HOST = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?$/;
/** An address with a plain authority: no user, no escape, no backslash, and one place alone where `//` stands. */
const ADDRESS = /^(https?:\/\/)([A-Za-z0-9.:-]+)([/?#][!-~]*)/i;
const DISPUTED_MARKS = /\/\/|[\\<>[\]`{}|^]/;
/** Marks at which some readers end an address: what stands behind them may be another. */
const ENDS = /[()"']/;
const LEADING_MARKS = /^[("'*_]*/;

/** @internal Places and hosts, checked. */
export class RestorePolicy {
  readonly permitsEverything: boolean;
  readonly places: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;

  constructor(options: RestoreOptions = {}) {
    const optionNames = ["restorePlaces", "restoreHosts"];
    if (
      typeof options !== "object" ||
      options === null ||
      !Object.keys(options).every((name) => optionNames.includes(name))
    ) {
      throw new OptionError(`unknown option; there are ${optionNames.join(", ")}`);
    }
    const { restorePlaces, restoreHosts } = options;
    const indices = restorePlaces === "all" ? ["all"] : listStrings(restorePlaces);
    if (indices === undefined || !indices.every((index) => PERMITTED_REGIONS.includes(index))) {
      throw new OptionError(`restorePlaces takes a collection of ${PERMITTED_REGIONS.join(", ")}`);
    }
    const hosts = listStrings(restoreHosts)?.map((host) => host.toLowerCase());
    if (hosts === undefined || !hosts.every((host) => HOST.test(host))) {
      throw new OptionError("restoreHosts takes a collection of host names, such as docs.example.com");
    }
    this.places = new Set(indices);
    this.hosts = new Set(hosts);
    this.permitsEverything = this.places.has("all");
  }

  /** Whether a destination, as far as it is read, leads to one of the hosts whatever follows. */
  allowsLink(destination: string | undefined): boolean {
    if (destination === undefined || this.hosts.size === 0) return false;
    const match = ADDRESS.exec(destination);
    if (match === null || match[0].length < destination.length) return false;
    const path = match[3] ?? "";
    return this.hosts.has((match[2] ?? "").toLowerCase()) && !DISPUTED_MARKS.test(path) && !ENDS.test(path);
  }

  /**
   * Where the path of a chunk that is an address of one of the hosts begins, and where it may end, in code points;
   * undefined of any other.
   */
  findBarePath(chunk: string): readonly [number, number] | undefined {
    const markCount = LEADING_MARKS.exec(chunk)?.[0].length ?? 0;
    const address = chunk.slice(markCount);
    const match = ADDRESS.exec(address);
    if (match === null || !this.hosts.has((match[2] ?? "").toLowerCase())) return undefined;
    for (const character of address) {
      if (!((character >= " " && character <= "~") || isWordCharacter(character))) return undefined;
    }
    const start = (match[1] ?? "").length + (match[2] ?? "").length;
    const path = address.slice(start);
    if (DISPUTED_MARKS.test(path)) return undefined;
    const end = ENDS.exec(path)?.index ?? path.length;
    return [markCount + start + 1, markCount + start + [...path.slice(0, end)].length];
  }
}

/** The strings of a collection; none of nothing, and undefined of what is no collection of strings. */
function listStrings(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  const list = isCollection(value) ? [...value] : [undefined];
  return list.every((entry) => typeof entry === "string") ? (list as string[]) : undefined;
}
