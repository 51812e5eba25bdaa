import { addUsage } from '../../domain/usage/add-usage.ts';
import { largestPromptOf, promptSizeStep } from '../../domain/usage/prompt-size.ts';

type Usage = Record<string, unknown>;

/** Lines of a batch that cost the same by the token. */
interface Group {
  readonly model: string | null;
  readonly usage: Usage;
  readonly lines: number;
  readonly largest_prompt_tokens: number;
}

/** A batch names few models; those past this are one group without a model, whose price is not known. */
const MAX_GROUPS = 16;

/**
 * The usage of a batch's results: each line is an answer of its own. They are summed in groups whose tokens have one price: of
 * one model, place and speed, and of prompts of like size, since long prompts are dearer by the prompt and not by the batch.
 */
export class BatchTotal {
  readonly #groups = new Map<string, Group>();

  add(model: string | null, usage: Usage): void {
    const promptTokens = largestPromptOf(usage);
    const step = promptSizeStep(promptTokens);
    const named = JSON.stringify([
      model,
      step,
      usage['inference_geo'],
      usage['speed'],
      Array.isArray(usage['iterations']),
    ]);
    const isKnown = this.#groups.has(named) || this.#groups.size < MAX_GROUPS;
    const key = isKnown ? named : '';
    const group = this.#groups.get(key);
    this.#groups.set(key, {
      model: isKnown ? model : null,
      usage: addUsage(group?.usage ?? null, usage) as Usage,
      lines: (group?.lines ?? 0) + 1,
      largest_prompt_tokens: Math.max(group?.largest_prompt_tokens ?? 0, promptTokens),
    });
  }

  /** The sum of all lines, with its parts as `batch_groups`; null while there is no line. */
  get usage(): Usage | null {
    const groups = [...this.#groups.values()];
    const sum = groups.reduce<Usage | null>((total, { usage }) => addUsage(total, usage) as Usage, null);
    return sum && { ...sum, batch_groups: groups };
  }
}
