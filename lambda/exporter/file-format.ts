/** Encodes rows, some thousand at a time, to the bytes of a file. */
export interface FileFormat {
  encode(rows: readonly unknown[]): Uint8Array;
  /** The last bytes. */
  end(): Uint8Array;
}
