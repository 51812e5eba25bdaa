import type { RequestSize } from '../../domain/limits/worst-case.ts';
import { JsonPicker } from '../meter/json-picker.ts';
import { writeInSlices } from './in-slices.ts';

const limits = {
  max_tokens: 'tokens',
  max_completion_tokens: 'tokens',
  max_output_tokens: 'tokens',
  max_tokens_to_sample: 'tokens',
  n: 'responses',
  best_of: 'responses',
  partial_images: 'partialImages',
  speed: 'speed',
  inference_geo: 'geo',
  generationConfig: { maxOutputTokens: 'tokens', candidateCount: 'responses' },
  generation_config: { max_output_tokens: 'tokens', candidate_count: 'responses' },
  parameters: { sampleCount: 'responses' },
};

const BRACE = 0x7b;
const FILE = 'filename=';
const BOUNDARY = '\r\n--';
/** Limit of a field's header and its value. */
const MAX_FIELD_BYTES = 256;

/** The files of a multipart body, and its number of responses. */
const readFiles = (body: Buffer): Pick<BodySize, 'files' | 'fileBytes' | 'responses'> => {
  let [files, fileBytes] = [0, 0];
  for (let at = body.indexOf(FILE); at !== -1; ) {
    const boundary = body.indexOf(BOUNDARY, at);
    const end = boundary === -1 ? body.length : boundary;
    files++;
    fileBytes += end - at;
    at = body.indexOf(FILE, end);
  }
  const field = Math.max(body.indexOf('name="n"'), body.indexOf('name=n\r'));
  const n = /\r\n\r\n(\d+)\r\n/.exec(field === -1 ? '' : body.toString('latin1', field, field + MAX_FIELD_BYTES));
  return { files, fileBytes, responses: n ? Number(n[1]) : null };
};

type BodySize = Pick<
  RequestSize,
  'maxOutputTokens' | 'responses' | 'partialImages' | 'isFast' | 'isInUs' | 'files' | 'fileBytes'
>;

/** A body's statements about the size of its response, and the files that it has. The largest limit counts where there are several. */
export const bodySize = async (body: Buffer | null): Promise<BodySize> => {
  let maxOutputTokens: number | null = null;
  let responses: number | null = null;
  let partialImages = 0;
  let [isFast, isInUs] = [false, false];
  const value = (name: string, json: string): void => {
    if (name === 'speed') isFast ||= json.includes('fast');
    if (name === 'geo') isInUs ||= json.includes('us');
    const number = Number(json);
    if (!(number > 0)) return;
    if (name === 'tokens') maxOutputTokens = Math.max(maxOutputTokens ?? 0, number);
    if (name === 'responses') responses = Math.max(responses ?? 0, number);
    if (name === 'partialImages') partialImages = Math.max(partialImages, number);
  };
  const files = body === null || body[0] === BRACE ? { files: 0, fileBytes: 0 } : readFiles(body);
  if (body !== null && files.files === 0) {
    const picker = new JsonPicker(limits, { value, tooLong: () => {}, documentEnd: () => {} }, 64);
    try {
      await writeInSlices(body, (slice) => picker.write(slice));
    } catch {
      // No JSON: its provider refuses it, or the model's largest output counts.
    }
  }
  return { maxOutputTokens, responses, partialImages, isFast, isInUs, ...files };
};
