import type { Prompt } from './usage-event.ts';

type Image = Prompt['images'][number];
type Size = { readonly width: number; readonly height: number };

const sizeOf = ({ width, height }: Image): Size | null =>
  width === null || height === null || width === 0 || height === 0 ? null : { width, height };

/** Scaled down to fit a square, never up. */
const scaledWithin = ({ width, height }: Size, side: number): Size => {
  const scale = Math.min(1, side / Math.max(width, height));
  return { width: width * scale, height: height * scale };
};

/** Squares that cover the image. The small tolerance absorbs rounding of a scaled side. */
const squares = ({ width, height }: Size, side: number): number =>
  Math.ceil(width / side - 1e-6) * Math.ceil(height / side - 1e-6);

/** As `squares`, for an image that is scaled down to this number at most. */
const cappedSquares = (size: Size, side: number, max: number): number => Math.min(squares(size, side), max);

/** Base tokens and tokens for each 512-pixel tile. */
const openaiTiles: readonly (readonly [models: RegExp, base: number, tile: number])[] = [
  [/gpt-4o-mini/, 2833, 5667],
  [/gpt-5(\.1)?(?![.\d])(?!.*(mini|nano))/, 70, 140],
  [/(^|\/)o[13](?!.*mini)/, 75, 150],
  [/gpt-4o|gpt-4\.1(?!.*(mini|nano))|gpt-4\.5|gpt-4-turbo|gpt-4-.*vision|chatgpt-4o/, 85, 170],
];

/** Tokens for each 32-pixel patch, and most patches. */
const openaiPatches: readonly (readonly [models: RegExp, perPatch: number, max: number])[] = [
  [/gpt-4\.1-mini/, 1.62, 1536],
  [/(gpt-4\.1|gpt-5)-nano/, 2.46, 1536],
  [/o4-mini/, 1.72, 1536],
  // Published as 1.62; charged as 1.2: https://community.openai.com/t/1371337
  [/gpt-5-mini/, 1.2, 1536],
  [/gpt-[5-9]/, 1.2, 2500],
];

const OPENAI_TILE = 512;
const OPENAI_PATCH = 32;

/**
 * Tiles: within 2048 pixels, then the short side down to 768, then base + tiles; `low` detail costs the base alone. Patches: each
 * of 32 pixels has a factor of its model.
 * @see https://platform.openai.com/docs/guides/images-vision#calculating-costs
 */
const openai = (model: string, image: Image): number | null => {
  const tiles = openaiTiles.find(([models]) => models.test(model));
  if (tiles && image.detail === 'low') return tiles[1];
  const size = sizeOf(image);
  if (!size) return null;
  if (tiles) {
    const within = scaledWithin(size, 2048);
    const scale = Math.min(1, 768 / Math.min(within.width, within.height));
    return tiles[1] + tiles[2] * squares({ width: within.width * scale, height: within.height * scale }, OPENAI_TILE);
  }
  const patches = openaiPatches.find(([models]) => models.test(model));
  return patches ? patches[1] * cappedSquares(size, OPENAI_PATCH, patches[2]) : null;
};

/**
 * A token for each 28-pixel patch, after scaling to 1568 pixels and tokens; from Opus 4.7 on to 2576 pixels and 4784 tokens.
 * @see https://platform.claude.com/docs/en/build-with-claude/vision
 */
const claude = (model: string, image: Image): number | null => {
  const size = sizeOf(image);
  if (!size) return null;
  const isFine = /claude-(opus-4-[7-9]|\w+-[5-9])/.test(model.replaceAll('.', '-'));
  return cappedSquares(scaledWithin(size, isFine ? 2576 : 1568), 28, isFine ? 4784 : 1568);
};

/**
 * Up to Gemini 2.5: 258 for an image within 384 pixels, else for each 768-pixel tile. Gemini 3: 1,120 for any image.
 * @see https://ai.google.dev/gemini-api/docs/tokens https://ai.google.dev/gemini-api/docs/media-resolution
 */
const gemini = (model: string, image: Image): number | null => {
  if (/gemini-([3-9]|\w+-latest)/.test(model)) return 1120;
  const size = sizeOf(image);
  if (!size) return null;
  return size.width <= 384 && size.height <= 384 ? 258 : 258 * squares(size, 768);
};

/** 256 for each 448-pixel tile, at most six, and 256 for the whole. @see https://docs.x.ai/docs/guides/image-understanding */
const grok = (image: Image): number | null => {
  const size = sizeOf(image);
  return size && 256 * (1 + cappedSquares(size, 448, 6));
};

/**
 * A token for each patch and one for each row: of 28 pixels within 1540, Pixtral of 16 pixels within 1024.
 * @see https://mistralai.github.io/mistral-common/usage/images
 */
const mistral = (model: string, image: Image): number | null => {
  const size = sizeOf(image);
  if (!size) return null;
  const [side, patch] = model.includes('pixtral') ? [1024, 16] : [1540, 28];
  const { width, height } = scaledWithin(size, side);
  return (Math.ceil(width / patch) + 1) * Math.ceil(height / patch);
};

/** 256 for each 512-pixel tile, and 256 for the whole of an image with several. @see https://docs.cohere.com/docs/image-inputs */
const cohere = (image: Image): number | null => {
  if (image.detail === 'low') return 256;
  const size = sizeOf(image);
  if (!size) return null;
  const tiles = cappedSquares(size, 512, 12);
  return 256 * (tiles === 1 ? 1 : tiles + 1);
};

/** Tokens of an image by its model's published formula; null where the formula or the image's size is not known. */
export const imageTokens = (model: string, image: Image): number | null => {
  const name = model.toLowerCase();
  if (name.includes('claude')) return claude(name, image);
  if (name.includes('gemini')) return gemini(name, image);
  if (name.includes('grok')) return grok(image);
  if (name.includes('command') || name.includes('aya')) return cohere(image);
  if (/(mi[sx]|magi|pix)tral|ministral/.test(name)) return mistral(name, image);
  return openai(name, image);
};
