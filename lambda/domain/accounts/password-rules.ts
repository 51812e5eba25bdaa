/**
 * The rules for new passwords that a schema can state: NIST SP 800-63B, which asks for length and not for composition. What is easy to
 * guess is refused as well: see password-strength.ts. A login with a password from before these rules works. The user pool's own policy
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
export const PASSWORD_PATTERN = /^(?!.*\p{Cc})\S(.*\S)?$/su;
