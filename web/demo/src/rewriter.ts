import type { Answer, Ask } from "./messages.js";

export type Open = Extract<Answer, { opened: unknown }>["opened"];
type Without<T> = T extends unknown ? Omit<T, "id"> : never;
type Job = { heard: (answer: Answer) => void; failed: (error: Error) => void };

/** Whether an answer is the last one of its job. */
const ends = (answer: Answer) => "error" in answer || "done" in answer || "restored" in answer || "opened" in answer;

/** The user or a newer text ended a job. */
export class Stopped extends Error {}
/** A job failed; the message is one line without the text. */
export class Refused extends Error {}

/**
 * The worker that rewrites. Jobs run one after the other, so that typing never waits for them.
 *
 * A worker can be ended from outside, for want of memory as well, and no event tells of it. So it holds a lock for
 * as long as it lives, and the page waits for that lock.
 */
export class Rewriter {
  #worker: Worker | undefined;
  #jobs = new Map<number, Job>();
  #next = 0;
  #since = 0;
  #deaths = 0;
  #lived = false;
  /** Number of the bundle that is open. */
  #chosen = 0;
  readonly #address: string;

  constructor(
    code: ArrayBuffer,
    private readonly bundles: ArrayBuffer[],
    private readonly identities: string[],
  ) {
    this.#address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  }

  /** Starts a worker and opens the bundle in it. */
  async open(): Promise<Open> {
    this.#start();
    return this.#opened();
  }

  /** Ends what runs, and opens another of the bundles. */
  choose(bundle: number): Promise<Open> {
    this.#chosen = bundle;
    return this.stop();
  }

  /** Asks for something; calls `heard` with each answer. */
  ask(ask: Without<Ask>, heard: (answer: Answer) => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const settle = (answer: Answer) => {
        if ("error" in answer) reject(new Refused(answer.error));
        else heard(answer);
        if (ends(answer)) resolve();
      };
      if (this.#jobs.size === 0) this.#since = performance.now();
      this.#jobs.set(id, { heard: settle, failed: reject });
      this.#worker?.postMessage({ ...ask, id });
    });
  }

  /** How long the job that runs has run; 0 if none does. */
  get working_ms(): number {
    return this.#jobs.size > 0 ? performance.now() - this.#since : 0;
  }

  /** Ends what runs, at once, and starts anew; what was to put words back is gone with it. */
  async stop(error: Error = new Stopped()): Promise<Open> {
    this.#worker?.terminate();
    this.#worker = undefined;
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    this.#start();
    for (const { failed } of jobs) failed(error);
    return this.#opened();
  }

  async #opened(): Promise<Open> {
    let opened: Open | undefined;
    const [bundle, identity] = [this.bundles[this.#chosen], this.identities[this.#chosen]];
    if (bundle === undefined || identity === undefined) throw new Refused("There is no such language.");
    await this.ask({ ask: "open", bundle, identity }, (answer) => {
      if ("opened" in answer) opened = answer.opened;
    });
    if (opened === undefined) throw new Refused("The word lists could not be opened.");
    return opened;
  }

  #start(): void {
    const worker = new Worker(this.#address);
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Answer | { alive: string }>) => {
      if ("alive" in data) return this.#watch(worker, data.alive);
      const job = this.#jobs.get(data.id);
      if (ends(data)) {
        this.#jobs.delete(data.id);
        this.#since = performance.now();
        if ("opened" in data) this.#lived = true;
        else this.#deaths = 0;
      }
      job?.heard(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#ended(worker);
    };
  }

  #watch(worker: Worker, name: string): void {
    navigator.locks?.request(name, () => this.#ended(worker));
  }

  #ended(worker: Worker): void {
    if (worker !== this.#worker) return;
    if (!this.#lived || ++this.#deaths > 3) this.#giveUp();
    else
      this.stop(new Refused("The worker was ended from outside. Nothing left this page. Sample again.")).catch(
        () => {},
      );
  }

  #giveUp(): void {
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    for (const { failed } of jobs)
      failed(new Refused("The worker cannot be started. Nothing left this page. Load it again."));
  }
}
