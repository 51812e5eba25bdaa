/**
 * The rules for passwords: NIST SP 800-63B, which asks for length and not for composition, with one addition against dictionary
 * words. The user pool's own policy must not be stricter, or registration would fail late.
 *
 * @see https://pages.nist.gov/800-63-3/sp800-63b.html#memsecret
 */
export const MIN_PASSWORD_CHARACTERS = 8;
/** Cognito's limit. @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_AdminSetUserPassword.html */
export const MAX_PASSWORD_CHARACTERS = 256;

/** The rules in one sentence, for people. */
export const PASSWORD_RULES = `At least ${MIN_PASSWORD_CHARACTERS} characters, among them a letter and a character that is not a letter; no space at either end, no line breaks.`;

/** A letter and something else, no white space at the ends and no control characters (Cognito rejects both). */
export const PASSWORD_PATTERN = /^(?=.*\p{L})(?=.*\P{L})(?!.*\p{Cc})\S(.*\S)?$/su;
