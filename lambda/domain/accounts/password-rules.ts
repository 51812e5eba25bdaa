/**
 * What a password must be. Length counts, composition hardly: this is NIST SP 800-63B with the one addition that a
 * dictionary word alone does not pass. The user pool's own policy must not ask for more, or registration would fail late.
 *
 * @see https://pages.nist.gov/800-63-3/sp800-63b.html#memsecret
 */
export const MIN_PASSWORD_CHARACTERS = 8;
/** Cognito takes no more. @see https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_AdminSetUserPassword.html */
export const MAX_PASSWORD_CHARACTERS = 256;

/** In one sentence, for people. */
export const PASSWORD_RULES = `At least ${MIN_PASSWORD_CHARACTERS} characters, among them a letter and a character that is not a letter; no space at either end, no line breaks.`;

/** A letter and something else, no white space at the ends and no line breaks (Cognito refuses both), nor what no keyboard has. */
export const PASSWORD_PATTERN = /^(?=.*\p{L})(?=.*\P{L})(?!.*\p{Cc})\S(.*\S)?$/su;
