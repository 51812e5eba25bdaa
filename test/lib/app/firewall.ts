import { describe, expect, it } from '@jest/globals';
import { filledIn, inContainers, resourcesOf, stackNames, synthStage } from '../synth-stage.ts';

/** The quota of AWS WAF cannot be raised. @see https://docs.aws.amazon.com/waf/latest/developerguide/limits.html */
const MAX_PATTERN_CHARACTERS = 200;

const patternsOf = (settings: object): string[] =>
  stackNames.flatMap((stack) => {
    const acls = JSON.stringify(resourcesOf(synthStage(settings)(stack), 'AWS::WAFv2::WebACL'));
    return [...acls.matchAll(/"RegexString":("(?:[^"\\]|\\.)*")/g)].map(([, text = '']) => JSON.parse(text) as string);
  });

describe('the patterns of the firewalls', () => {
  it.each([{}, filledIn, inContainers])('fit into the quota of AWS WAF %#', (settings) => {
    const patterns = patternsOf(settings);
    expect(patterns.length).toBeGreaterThan(5);
    expect(patterns.filter(({ length }) => length > MAX_PATTERN_CHARACTERS)).toEqual([]);
  });
});
