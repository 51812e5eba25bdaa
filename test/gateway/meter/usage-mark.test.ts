import { describe, expect, it } from '@jest/globals';
import { UsageMark } from '../../../lambda/gateway/meter/usage-mark.ts';

describe('hasValue', () => {
  const mark = new UsageMark('usage');
  const event = (member: string): string => `data: {"choices":[{"delta":{"content":"its usage"}}],${member}}\n\n`;
  const nulls = event('"usage":null').repeat(5);

  it.each(['"usage":null', '"usage": null', '"usage" : null', '"usage"\t:\n null'])(
    'is false where all are %j',
    (member) => {
      expect(mark.hasValue(Buffer.from(event(member).repeat(3)), 0)).toBe(false);
    },
  );

  it.each(['"usage":{"prompt_tokens":1}', '"usage": {}', '"usage":7', '"usageMetadata":null', '"usage'])(
    'is true where %j stands among nulls',
    (member) => {
      for (const text of [event(member) + nulls, nulls + event(member), nulls + event(member) + nulls])
        expect(mark.hasValue(Buffer.from(text), 0)).toBe(true);
    },
  );

  it('looks at nothing before where it begins', () => {
    const value = event('"usage":{"prompt_tokens":1}');
    expect(mark.hasValue(Buffer.from(value + nulls), value.length)).toBe(false);
  });
});
