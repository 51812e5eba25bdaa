import type { Random } from '../random.ts';

const pieces = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '\x7f',
  '\xff',
  '\xe2\x80\xa8',
  '%0d%0a',
  '%00',
  '../',
  '//',
  '@evil.test',
  'http://evil.test',
  '\r\n\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 7\r\n',
  'Connection: content-length, transfer-encoding\r\n',
  'Connection: close\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: h2c\r\n',
  'Host: evil.test\r\n',
  '0\r\n\r\n',
  'ffffffff\r\n',
  'GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
];

type Mutation = (text: string, random: Random) => string;

const at = (text: string, random: Random): number => random.below(text.length + 1);

const mutations: readonly Mutation[] = [
  (text, random) => {
    const i = at(text, random);
    return text.slice(0, i) + random.pick(pieces) + text.slice(i);
  },
  (text, random) => {
    const i = at(text, random);
    return text.slice(0, i) + String.fromCharCode(random.below(256)) + text.slice(i + 1);
  },
  (text, random) => {
    const i = at(text, random);
    return text.slice(0, i) + text.slice(i + 1 + random.below(8));
  },
  (text, random) => {
    const i = at(text, random);
    const j = i + random.below(60);
    return text.slice(0, j) + text.slice(i, j) + text.slice(j);
  },
  (text, random) => {
    const lines = text.split('\r\n');
    const i = random.below(lines.length);
    const j = random.below(lines.length);
    [lines[i], lines[j]] = [lines[j] as string, lines[i] as string];
    return lines.join('\r\n');
  },
  (text, random) => text.slice(0, at(text, random)),
];

/** A message with one to three things wrong, or none. */
export const mutate = (text: string, random: Random): string => {
  let result = text;
  for (let count = random.below(4); count > 0; count--) result = random.pick(mutations)(result, random);
  return result;
};
