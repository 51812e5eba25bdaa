import type { UsageGap } from './sides.ts';
import type { UnitName, Usage } from './usage.ts';

export type DraftUnits = Readonly<Partial<Record<UnitName, number>>>;

/** The counts of a raw usage object before clampUsage. A missing count is 0 (or null). */
export type UsageDraft = Partial<Omit<Usage, 'units'>> & {
  readonly units?: DraftUnits;
  readonly gap?: UsageGap | undefined;
};

/**
 * Makes a draft obey the rules of Usage: each part is cut to the room left in its whole. Cache reads take their room before cache
 * writes, audio before image before video.
 */
export const clampUsage = (draft: UsageDraft): Usage => {
  const inputTokens = draft.inputTokens ?? 0;
  const outputTokens = draft.outputTokens ?? 0;
  const cacheReadTokens = Math.min(draft.cacheReadTokens ?? 0, inputTokens);
  const cacheWriteTokens = Math.min(draft.cacheWriteTokens ?? 0, inputTokens - cacheReadTokens);
  const cacheWrite1hTokens = Math.min(draft.cacheWrite1hTokens ?? 0, cacheWriteTokens);
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
    cacheWrite1hTokens,
    cacheWrite12hTokens: Math.min(draft.cacheWrite12hTokens ?? 0, cacheWriteTokens - cacheWrite1hTokens),
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
