const END_OF_HEAD = '\r\n\r\n';

interface SplitterSink {
  head(head: string): void;
  request(request: { readonly head: string; readonly body: string }): void;
}

/**
 * Splits a connection's bytes into requests the way a trusting server would: by Content-Length or chunks where they are
 * announced, and else takes what follows a head for the next request. A body that was smuggled past the gateway shows as a
 * request here.
 */
export class RequestSplitter {
  readonly #sink: SplitterSink;
  #text = '';
  #head: string | undefined;

  constructor(sink: SplitterSink) {
    this.#sink = sink;
  }

  write(text: string): void {
    this.#text += text;
    while (this.#step());
  }

  /** True where there may be more to take. */
  #step(): boolean {
    if (this.#head === undefined) {
      const end = this.#text.indexOf(END_OF_HEAD);
      if (end === -1) return false;
      this.#head = this.#text.slice(0, end + END_OF_HEAD.length);
      this.#text = this.#text.slice(this.#head.length);
      this.#sink.head(this.#head);
    }
    const length = this.#bodyLength(this.#head);
    if (length === undefined || this.#text.length < length) return false;
    const request = { head: this.#head, body: this.#text.slice(0, length) };
    this.#text = this.#text.slice(length);
    this.#head = undefined;
    this.#sink.request(request);
    return this.#text.length > 0;
  }

  /** Length of the body as it stands on the wire; undefined while that is not known yet. */
  #bodyLength(head: string): number | undefined {
    if (!/^transfer-encoding:.*chunked/im.test(head)) return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    let at = 0;
    for (;;) {
      const line = this.#text.indexOf('\r\n', at);
      if (line === -1) return undefined;
      const size = Number.parseInt(this.#text.slice(at, line), 16);
      at = line + 2 + size + 2;
      if (size === 0 || Number.isNaN(size)) return this.#text.length >= line + 4 ? line + 4 : undefined;
      if (this.#text.length < at) return undefined;
    }
  }
}
