/**
 * Models that hide their reasoning: OpenAI's o series and GPT from 5 on, Grok from 4 on, Gemini from 2.5 on. Reasoning is charged as
 * output and cannot be estimated from the text that clients receive. Models that show their reasoning (DeepSeek, Magistral,
 * Claude's summaries) are not included.
 * @see https://platform.openai.com/docs/guides/reasoning https://ai.google.dev/gemini-api/docs/thinking https://docs.x.ai/docs/guides/reasoning
 */
const HIDDEN =
  /(?:^|\/)(?:o\d|gpt-[5-9](?!.*chat)|grok-[4-9](?!.*non-reasoning)|gemini-(?:2\.5|[3-9]|flash-latest|pro-latest)(?!.*flash-lite))/i;

/** True where an estimate from the visible text would leave out reasoning. */
export const hidesReasoning = (model: string): boolean => HIDDEN.test(model);
