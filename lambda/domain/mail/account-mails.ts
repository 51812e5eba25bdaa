import { type Mail, plainMail } from './mail.ts';

const VERIFICATION_DIGITS = 8;

/** A new code of eight digits. @param randomInt a cryptographic source, such as `node:crypto`'s */
export const newVerificationCode = (randomInt: (max: number) => number): string =>
  String(randomInt(10 ** VERIFICATION_DIGITS)).padStart(VERIFICATION_DIGITS, '0');

/**
 * The one mail that goes to an unverified address, apart from Cognito's code for a new password. It has no text of anybody but us, so
 * that nobody can make this service mail strangers what they like.
 */
export const verificationMail = (code: string): Mail =>
  plainMail('Your verification code', [
    'Somebody, probably you, uses this address with AI Spend Gateway. To verify it, enter this code in the dashboard:',
    `${code.slice(0, 4)} ${code.slice(4)}`,
    'The code works once, for 24 hours.',
    'If it was not you, ignore this mail: without the code the address gets no other.',
  ]);
