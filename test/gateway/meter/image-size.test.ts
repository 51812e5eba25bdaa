import { describe, expect, it } from '@jest/globals';
import { decodedHead, imageSize } from '../../../lambda/gateway/meter/prompt-counter.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** A JPEG segment: its marker, its length, and zeros. */
const segment = (marker: string, bytes: number): Buffer =>
  Buffer.concat([hex(`ff${marker}`), hex((bytes + 2).toString(16).padStart(4, '0')), Buffer.alloc(bytes)]);

const jpegFrame = hex('ff c0 0011 08 0120 0280 03');
const webp = (chunk: string, at20: string): Buffer =>
  Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`, 'latin1'), hex(at20), Buffer.alloc(8)]);

describe('the size of', () => {
  it.each<[string, Buffer, number, number]>([
    ['a PNG', hex('89504e470d0a1a0a 0000000d 49484452 00000280 00000120'), 640, 288],
    ['a GIF', hex('474946383961 8002 2001'), 640, 288],
    ['a JPEG', Buffer.concat([hex('ffd8'), jpegFrame]), 640, 288],
    [
      'a JPEG with a preview, and fill bytes',
      Buffer.concat([hex('ffd8'), segment('e1', 20_000), segment('db', 65), hex('ff'), jpegFrame]),
      640,
      288,
    ],
    ['a lossy WebP', webp('VP8 ', '000000 9d012a 8042 2081'), 640, 288],
    ['a lossless WebP', webp('VP8L', '2f 7fc2 4700'), 640, 288],
    ['an extended WebP', webp('VP8X', '00000000 7f0200 1f0100'), 640, 288],
  ])('%s is read from its head', (_name, bytes, width, height) => {
    expect(imageSize(bytes)).toEqual({ width, height });
  });

  it('an image whose head does not contain it is null', () => {
    expect(imageSize(Buffer.concat([hex('ffd8'), segment('e1', 20_000)]))).toBeNull();
    expect(imageSize(hex('ffd8ff'))).toBeNull();
    expect(imageSize(hex('ffd8ff00000000000000000000'))).toBeNull();
    expect(imageSize(hex('89504e470d0a1a0a'))).toBeNull();
    expect(imageSize(Buffer.from('GIF89a'))).toBeNull();
    expect(imageSize(Buffer.from('RIFF0000WEBPVP8 '))).toBeNull();
    expect(imageSize(webp('ALPH', '00'))).toBeNull();
  });

  it('another file is undefined', () => {
    expect(imageSize(Buffer.from('%PDF-1.7'))).toBeUndefined();
    expect(imageSize(Buffer.from('RIFF0000WAVEfmt '))).toBeUndefined();
    expect(imageSize(Buffer.alloc(0))).toBeUndefined();
  });
});

describe('the head of a file', () => {
  it('is decoded from base64, alone, in a data URL, and with escaped slashes', () => {
    const bytes = hex('ffd8ffe0');
    expect(decodedHead(Buffer.from('/9j/4A=='))).toEqual(bytes);
    expect(decodedHead(Buffer.from('data:image/jpeg;base64,/9j/4A=='))).toEqual(bytes);
    expect(decodedHead(Buffer.from('\\/9j\\/4A=='))).toEqual(bytes);
  });

  it('is null for an address', () => {
    expect(decodedHead(Buffer.from('https://example.com/a.png'))).toBeNull();
    expect(decodedHead(Buffer.from('gs://bucket/a.png'))).toBeNull();
    expect(decodedHead(Buffer.from('https:\\/\\/example.com\\/a.png'))).toBeNull();
  });
});
