/** Runs a job for the latest of its requests: one at a time, and what came between is left out. */
export class Latest {
  #running = false;
  #again = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly job: () => Promise<void>) {}

  /** Asks for a run after a pause without another request. */
  soon(pause_ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.now(), pause_ms);
  }

  /** Asks for a run now, or right after the one that goes on. */
  now(): void {
    clearTimeout(this.#timer);
    this.#again = true;
    if (!this.#running) this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#again) {
      this.#again = false;
      await this.job();
    }
    this.#running = false;
  }
}
