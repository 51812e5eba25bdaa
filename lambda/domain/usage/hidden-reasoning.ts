/**
 * Models that think without showing it: OpenAI's o series and GPT from 5 on, Grok from 4 on, Gemini from 2.5 on. What they thought is charged
 * as output and cannot be told from the text a client saw. Models that show their thoughts (DeepSeek, Magistral, Claude's
 * summaries) are not meant.
 * @see https://platform.openai.com/docs/guides/reasoning https://ai.google.dev/gemini-api/docs/thinking https://docs.x.ai/docs/guides/reasoning
 */
const HIDDEN =
  /(?:^|\/)(?:o\d|gpt-[5-9](?!.*chat)|grok-[4-9](?!.*non-reasoning)|gemini-(?:2\.5|[3-9]|flash-latest|pro-latest)(?!.*flash-lite))/i;

/** True where an estimate from visible text would leave out what the model thought. */
export const reasonsUnseen = (model: string): boolean => HIDDEN.test(model);
