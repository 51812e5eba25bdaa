const END_OF_HEAD = '\r\n\r\n';

export interface SplitRequest {
  readonly head: string;
  /** Without its framing. */
  readonly body: string;
}

interface SplitterSink {
  head(head: string): void;
  request(request: SplitRequest): void;
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
    const body = /^transfer-encoding:.*chunked/im.test(this.#head) ? this.#chunks() : this.#length(this.#head);
    if (!body) return false;
    const request = { head: this.#head, body: body.text };
    this.#text = this.#text.slice(body.length);
    this.#head = undefined;
    this.#sink.request(request);
    return this.#text.length > 0;
  }

  /** Undefined until all of it is here, as for chunks. */
  #length(head: string): { readonly text: string; readonly length: number } | undefined {
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    return this.#text.length < length ? undefined : { text: this.#text.slice(0, length), length };
  }

  #chunks(): { readonly text: string; readonly length: number } | undefined {
    let at = 0;
    let text = '';
    for (;;) {
      const line = this.#text.indexOf('\r\n', at);
      if (line === -1) return undefined;
      const size = Number.parseInt(this.#text.slice(at, line), 16);
      at = line + 2 + size + 2;
      if (this.#text.length < at) return undefined;
      if (size === 0) return { text, length: at };
      text += this.#text.slice(line + 2, line + 2 + size);
    }
  }
}
