import type { UnitName, Usage } from './usage.ts';

export type DraftUnits = Readonly<Partial<Record<UnitName, number>>>;

/** What a shape's reader makes of a raw usage object: counts not yet held to the subset rule; left out is 0 (or null). */
export type UsageDraft = Partial<Omit<Usage, 'units'>> & {
  readonly units?: DraftUnits;
};

/**
 * Holds a draft to the rule of Usage: every part is cut to what its whole has room for, in an order that keeps the dearer
 * statement (a cache read is believed before a cache write, audio before image before video).
 */
export const clampUsage = (draft: UsageDraft): Usage => {
  const inputTokens = draft.inputTokens ?? 0;
  const outputTokens = draft.outputTokens ?? 0;
  const cacheReadTokens = Math.min(draft.cacheReadTokens ?? 0, inputTokens);
  const cacheWriteTokens = Math.min(draft.cacheWriteTokens ?? 0, inputTokens - cacheReadTokens);
  const [inputAudioTokens = 0, inputImageTokens = 0, inputVideoTokens = 0] = cutToFit(inputTokens, [
    draft.inputAudioTokens,
    draft.inputImageTokens,
    draft.inputVideoTokens,
  ]);
  const [outputAudioTokens = 0, outputImageTokens = 0, outputVideoTokens = 0] = cutToFit(outputTokens, [
    draft.outputAudioTokens,
    draft.outputImageTokens,
    draft.outputVideoTokens,
  ]);
  const cacheReadAudioTokens = Math.min(draft.cacheReadAudioTokens ?? 0, inputAudioTokens, cacheReadTokens);
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(draft.cacheWrite1hTokens ?? 0, cacheWriteTokens),
    reasoningTokens: Math.min(draft.reasoningTokens ?? 0, outputTokens),
    inputAudioTokens,
    outputAudioTokens,
    inputImageTokens,
    outputImageTokens,
    inputVideoTokens,
    outputVideoTokens,
    cacheReadAudioTokens,
    cacheReadImageTokens: Math.min(
      draft.cacheReadImageTokens ?? 0,
      inputImageTokens,
      cacheReadTokens - cacheReadAudioTokens,
    ),
    billedInputTokens: draft.billedInputTokens ?? null,
    billedOutputTokens: draft.billedOutputTokens ?? null,
    units: draft.units ?? {},
    providerCostNanoUsd: draft.providerCostNanoUsd ?? null,
  };
};

const cutToFit = (whole: number, parts: readonly (number | undefined)[]): number[] => {
  let room = whole;
  return parts.map((part) => {
    const taken = Math.min(part ?? 0, room);
    room -= taken;
    return taken;
  });
};
