import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runOps } from './run-command.ts';

const content = 'It is sunny in Rome today, with a light wind from the west and no rain at all.';
const recording = (part: object, usage: object) =>
  JSON.stringify({
    provider: 'openai',
    path: '/v1/chat/completions',
    req: JSON.stringify({
      model: 'gpt-4o',
      stream: true,
      messages: [{ role: 'user', content: [{ type: 'text', text: content }, part] }],
    }),
    ctype: 'application/json',
    body: JSON.stringify({ model: 'gpt-4o', choices: [{ message: { content } }], usage }),
  });
const text = { type: 'text', text: '' };
const file = join(tmpdir(), 'recordings.jsonl');
writeFileSync(
  file,
  [
    // The estimate is 27 and 21.
    recording(text, { prompt_tokens: 26, completion_tokens: 20, total_tokens: 46 }),
    recording(text, { prompt_tokens: 52, completion_tokens: 10, total_tokens: 62 }),
    recording({ type: 'file', file: {} }, { prompt_tokens: 900, completion_tokens: 20, total_tokens: 920 }),
  ].join('\n'),
);

const run = async (option: string): Promise<Record<string, unknown>[]> => {
  const { stdout } = await runOps('meter', [option, file]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};

describe('npm run meter', () => {
  it('--estimates compares both halves with what was reported, and leaves out lower bounds of inputs', async () => {
    const rows = (await run('--estimates')) as { of: string; unknown: number; calibration: Half; report: Half }[];
    type Half = { responses: number; within60To160Percent: number; median: number | null };
    expect(rows.map(({ of, unknown }) => [of, unknown])).toEqual([
      ['input: all', 1],
      ['input: gpt', 1],
      ['output: all', 0],
      ['output: openai, text', 0],
    ]);
    for (const { calibration, report } of rows.slice(0, 2)) expect(calibration.responses + report.responses).toBe(2);
    // An output of 10 tokens says little.
    for (const { calibration, report } of rows.slice(2)) {
      expect(calibration.responses + report.responses).toBe(2);
      expect(calibration.median ?? report.median).toBeCloseTo(1.05, 1);
    }
  });

  it('--calibrate measures the constants of a family', async () => {
    expect(await run('--calibrate')).toEqual([
      expect.objectContaining({
        family: 'gpt',
        recordings: 2,
        inUse: expect.objectContaining({ bytesPerToken: 4.5 }),
        best: expect.objectContaining({ bytesPerToken: expect.any(Number) }),
      }),
    ]);
  });
});
