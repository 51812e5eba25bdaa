import { invalid } from '../errors.ts';

/**
 * The rules for new passwords that a schema can state: NIST SP 800-63B, which asks for length and not for composition. What is easy to
 * guess is refused as well. A login with a password from before these rules works. The user pool's own policy
 * must not be stricter, or registration would fail late.
 *
 * @see https://pages.nist.gov/800-63-4/sp800-63b.html#passwordver
 */
export const MIN_PASSWORD_CHARACTERS = 12;
/** Cognito's limit. @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_AdminSetUserPassword.html */
export const MAX_PASSWORD_CHARACTERS = 256;

/** The rules in one sentence, for people. */
export const PASSWORD_RULES = `At least ${MIN_PASSWORD_CHARACTERS} characters, and not easy to guess; no space at either end, no line breaks.`;

/** No white space at the ends and no control characters (Cognito rejects both). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: \p{Cc} has another meaning without the flag, and none in Python.
export const PASSWORD_PATTERN = /^(?!.*[\x00-\x1f\x7f-\x9f])\S(.*\S)?$/;

/** 0 to 4. From 3 on, ten thousand million guesses do not find it. @see https://github.com/zxcvbn-ts/zxcvbn */
const MIN_SCORE = 3;
/** The judged part of a long password: to judge 256 characters takes 0.2 s. */
const JUDGED_CHARACTERS = 64;
/** Words that an attacker tries here first. */
const OWN_WORDS = ['aispend', 'spend', 'gateway', 'dashboard'];

/** Digits and signs around a word, such as a year and exclamation marks. */
const AROUND_A_WORD = /^[\d\p{P}\p{S}]+|[\d\p{P}\p{S}]+$/gu;
/** Those that people change their password by: days and months, here in the languages of most users, and seasons. */
const calendarWords = () =>
  [
    ...['spring', 'summer', 'autumn', 'winter', 'frühling', 'sommer', 'herbst', 'printemps', 'été', 'automne', 'hiver'],
    ...[
      'primavera',
      'verano',
      'otoño',
      'invierno',
      'estate',
      'autunno',
      'inverno',
      'verão',
      'outono',
      'lente',
      'zomer',
    ],
    ...['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'].flatMap((locale) =>
      (['month', 'weekday'] as const).flatMap((part) => {
        const { format } = new Intl.DateTimeFormat(locale, { [part]: 'long', timeZone: 'UTC' });
        return Array.from({ length: 12 }, (_, index) => format(new Date(Date.UTC(2026, index, index + 1))));
      }),
    ),
  ].map((word) => word.toLowerCase());
/** A word that is found by fewer guesses is a common one, or close to one. */
const COMMON_WORD_GUESSES = 100_000;

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
  if (score >= MIN_SCORE) {
    // zxcvbn multiplies by ten thousand for each part, which makes a season, a year and two signs good.
    const word = password.replace(AROUND_A_WORD, '');
    if (word === password || word.length * 3 < length || word.length > JUDGED_CHARACTERS) return undefined;
    if (passwordGuesser.check(word, [...own, ...calendarWords()]).guesses >= COMMON_WORD_GUESSES) return undefined;
    return `This password is too easy to guess. It is a common word with digits or signs around it. ${ADVICE}`;
  }
  return ['This password is too easy to guess.', reasons[feedback.warning ?? ''], ADVICE].filter(Boolean).join(' ');
};

/**
 * @param path of the password in the request
 * @param words the user's name, address and company
 * @throws ValidationError that says what is wrong with a new password
 */
export const requireGoodPassword = async (path: string, password: string, words: readonly string[]): Promise<void> => {
  const message = await passwordProblem(password, words);
  if (message !== undefined) throw invalid(path, message);
};
