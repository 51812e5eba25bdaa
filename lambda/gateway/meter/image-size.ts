/** In pixels; null where the bytes do not show them. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

const SIGNATURES = {
  png: Buffer.from('89504e470d0a1a0a', 'hex'),
  jpeg: Buffer.from('ffd8ff', 'hex'),
  gif: Buffer.from('GIF8'),
  riff: Buffer.from('RIFF'),
};

const startsWith = (bytes: Buffer, signature: Buffer): boolean => bytes.subarray(0, signature.length).equals(signature);

/** The first bytes of a file as a request has it: base64, as in JSON, alone or in a data URL. Null for an address. */
export const decodedHead = (head: Buffer): Buffer | null => {
  // Some encoders write `\/` for a slash.
  const text = head.toString('latin1').replaceAll('\\', '');
  if (/^[a-z]+:\/\//i.test(text)) return null;
  return Buffer.from(text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text, 'base64');
};

/**
 * The size of a PNG, JPEG, GIF or WebP image from its first bytes. Undefined for any other file; null where the size is not in
 * these bytes, as behind a long preview in a JPEG.
 */
export const imageSize = (bytes: Buffer): ImageSize | null | undefined => {
  if (startsWith(bytes, SIGNATURES.png))
    return bytes.length < 24 ? null : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (startsWith(bytes, SIGNATURES.gif))
    return bytes.length < 10 ? null : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  if (startsWith(bytes, SIGNATURES.jpeg)) return jpegSize(bytes);
  if (startsWith(bytes, SIGNATURES.riff) && bytes.toString('latin1', 8, 12) === 'WEBP') return webpSize(bytes);
  return undefined;
};

/** Walks the segments to the frame header (SOF). @see ITU-T T.81, B.1.1 */
const jpegSize = (bytes: Buffer): ImageSize | null => {
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] as number;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // Fill bytes may precede a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
};

/** @see https://developers.google.com/speed/webp/docs/riff_container */
const webpSize = (bytes: Buffer): ImageSize | null => {
  if (bytes.length < 30) return null;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return null;
  }
};
