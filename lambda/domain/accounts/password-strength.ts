import {
  MAX_PASSWORD_CHARACTERS,
  MIN_PASSWORD_CHARACTERS,
  PASSWORD_PATTERN,
  PASSWORD_RULES,
} from './password-rules.ts';

/** 0 to 4. From 3 on, ten thousand million guesses do not find it. @see https://github.com/zxcvbn-ts/zxcvbn */
const MIN_SCORE = 3;
/** The judged part of a long password: to judge 256 characters takes 0.2 s. */
const JUDGED_CHARACTERS = 64;
/** Words that an attacker tries here first. */
const OWN_WORDS = ['aispend', 'spend', 'gateway', 'dashboard'];

const ADVICE = 'Use several words that do not belong together.';
/** By zxcvbn's warnings. */
const reasons: Readonly<Record<string, string>> = {
  common: 'It is one of the passwords that are used most.',
  topTen: 'It is one of the passwords that are used most.',
  topHundred: 'It is one of the passwords that are used most.',
  similarToCommon: 'It is close to one of the passwords that are used most.',
  userInputs: 'It is close to your name or address.',
  simpleRepeat: 'It repeats a character.',
  extendedRepeat: 'It repeats itself.',
  sequences: 'It is a sequence, such as abcdef.',
  straightRow: 'It is a row of keys.',
  keyPattern: 'It is a pattern of keys.',
  dates: 'It is a date.',
  recentYears: 'It is a year.',
};

/**
 * Problem of a new password: undefined for nothing. Its length first, then whether it is easy to guess: common and breached
 * passwords and what is made of them, rows and patterns of keys, repetitions, and the user's own words.
 *
 * @param words the user's name, address and company
 */
export const passwordProblem = async (password: string, words: readonly string[]): Promise<string | undefined> => {
  const { length } = password;
  if (length < MIN_PASSWORD_CHARACTERS || length > MAX_PASSWORD_CHARACTERS || !PASSWORD_PATTERN.test(password))
    return PASSWORD_RULES;
  const parts = words.flatMap((word) => word.split(/[\s@.]+/));
  const pairs = parts.slice(1).map((part, index) => `${parts[index]}${part}`);
  const own = [...OWN_WORDS, ...words, ...parts, ...pairs].filter((word) => word.length > 2);
  // Loaded for the first new password: it takes 0.1 s, which other requests do not wait for.
  const { passwordGuesser } = await import('#password-guesser');
  const { score, feedback } = passwordGuesser.check(password.slice(0, JUDGED_CHARACTERS), own);
  if (score >= MIN_SCORE) return undefined;
  return ['This password is too easy to guess.', reasons[feedback.warning ?? ''], ADVICE].filter(Boolean).join(' ');
};
