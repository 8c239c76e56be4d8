/** Options of restoring: the permitted regions, and the reasons why surrogates are not restored. */

import { OptionError } from "../errors.js";
import { isCollection, refuseUnknownOptions } from "./options.js";
import { isWordCharacter } from "./replyChunk.js";

/** A region in which an option permits restoring. `all` permits every region, including links and markup. */
export type RestorePlace = "code" | "json" | "math" | "all";

/** Options of restoring. */
export interface RestoreOptions {
  /** Permitted regions. Use `all` only for a reply that no program displays or fetches. */
  readonly restorePlaces?: Iterable<RestorePlace> | "all" | undefined;
  /** Hosts, with their port if they have one, such as `docs.example.com`. Originals are also restored in their links. */
  readonly restoreHosts?: Iterable<string> | undefined;
}

/**
 * Reason why a surrogate is not restored: its region; `ambiguous` if it has several originals; or `word` if it may be a
 * word of the reply itself.
 */
export type SkipReason = "link" | "code" | "math" | "json" | "markup" | "active" | "chunk" | "ambiguous" | "word";

const PERMITTED_REGIONS: readonly string[] = ["code", "json", "math", "all"];
const HOST = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?$/;
/** Address with a plain authority: no user, no escape, no backslash, and a single `//`. */
const ADDRESS = /^(https?:\/\/)([A-Za-z0-9.:-]+)([/?#][!-~]*)/i;
const DISPUTED_MARKS = /\/\/|[\\<>[\]`{}|^]/;
/** Marks at which some programs end an address, so that another address may follow. */
const ENDS = /[()"']/;
const LEADING_MARKS = /^[("'*_]*/;

/** @internal Regions of a reply in which originals are restored. By default only running text is permitted. */
export class RestorePolicy {
  readonly permitsEverything: boolean;
  readonly places: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;

  constructor(options: RestoreOptions = {}) {
    const optionNames = ["restorePlaces", "restoreHosts"];
    refuseUnknownOptions(options, optionNames);
    const { restorePlaces, restoreHosts } = options;
    const indices = restorePlaces === "all" ? ["all"] : listStrings(restorePlaces);
    if (indices === undefined || !indices.every((index) => PERMITTED_REGIONS.includes(index))) {
      throw new OptionError(`restorePlaces must be a collection of ${PERMITTED_REGIONS.join(", ")}`);
    }
    const hosts = listStrings(restoreHosts)?.map((host) => host.toLowerCase());
    if (hosts === undefined || !hosts.every((host) => HOST.test(host))) {
      throw new OptionError("restoreHosts must be a collection of host names, such as docs.example.com");
    }
    this.places = new Set(indices);
    this.hosts = new Set(hosts);
    this.permitsEverything = this.places.has("all");
  }

  /** Return whether a link destination is certainly an address of a permitted host. */
  allowsLink(destination: string | undefined): boolean {
    if (destination === undefined || this.hosts.size === 0) return false;
    const match = ADDRESS.exec(destination);
    if (match === null || match[0].length < destination.length) return false;
    const path = match[3] ?? "";
    return this.hosts.has((match[2] ?? "").toLowerCase()) && !DISPUTED_MARKS.test(path) && !ENDS.test(path);
  }

  /** Return start and latest end, in code points, of the path of a chunk that is an address of a permitted host. */
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

/** Return the strings of a collection; `undefined` for any other value. */
function listStrings(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  const list = isCollection(value) ? [...value] : [undefined];
  return list.every((entry) => typeof entry === "string") ? (list as string[]) : undefined;
}
