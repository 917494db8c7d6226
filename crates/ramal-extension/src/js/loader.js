// What only waits for something, and can be ended: of all components the one that needs no drawing.

export class BorderedLoader {
  #controller = new AbortController();
  onAbort;
  constructor(_tui, _theme, message) {
    this.message = String(message ?? "");
  }
  get signal() {
    return this.#controller.signal;
  }
  abort() {
    if (this.signal.aborted) return;
    this.#controller.abort();
    this.onAbort?.();
  }
  render() {
    return [this.message];
  }
  invalidate() {}
  handleInput() {}
  dispose() {}
}
