import { INVITATION_DAYS } from '../accounts/invitation.ts';
import type { Role } from '../accounts/permissions.ts';
import { type Mail, plainMail } from './mail.ts';

const VERIFICATION_DIGITS = 8;

/** A new code of eight digits. @param randomInt a cryptographic source, such as `node:crypto`'s */
export const newVerificationCode = (randomInt: (max: number) => number): string =>
  String(randomInt(10 ** VERIFICATION_DIGITS)).padStart(VERIFICATION_DIGITS, '0');

/**
 * The one mail that goes to an unverified address, apart from an invitation and Cognito's code for a new password. It has no text of anybody but us, so
 * that nobody can make this service mail strangers what they like.
 */
export const verificationMail = (code: string): Mail =>
  plainMail('Your verification code', [
    'Somebody, probably you, uses this address with AI Spend Gateway. To verify it, enter this code in the dashboard:',
    `${code.slice(0, 4)} ${code.slice(4)}`,
    'The code works once, for 24 hours.',
    'If it was not you, ignore this mail. Without the code no further mail is sent to this address.',
  ]);

/** `2026-11-20 16:30 UTC` */
const instant = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** @param reviewUrl where the user looks through keys and tokens */
export const passwordResetMail = (at: Date, reviewUrl: string): Mail =>
  plainMail('Your password was reset', [
    `The password of your login was reset on ${instant(at)}, with a code that was mailed to this address. Every session has ended.`,
    'If somebody else knew the old password, they may have made keys that still work. Sign in and look through the recent ones:',
    reviewUrl,
    'If you did not reset the password, somebody else reads this mailbox: secure it first, then reset the password again.',
  ]);

const reviewAdvice =
  'If it was not you, reset the password at once ("Forgot your password?"), then look through recent keys:';

export const passwordChangedMail = (at: Date, reviewUrl: string): Mail =>
  plainMail('Your password was changed', [
    `The password of your login was changed on ${instant(at)}. Every session has ended.`,
    reviewAdvice,
    reviewUrl,
  ]);

/** To the former address, and to the new one. Neither names the other. */
export const addressChangedMail = (at: Date, reviewUrl: string): Mail =>
  plainMail('The address of your login was changed', [
    `The e-mail address of your login was changed on ${instant(at)}, with the password and a code that was mailed to the new address. Every session has ended.`,
    'If it was not you, tell another member of your account, or whoever runs this service. Recent keys are listed here:',
    reviewUrl,
  ]);

/**
 * To who has proven an address. The login may be an earlier one of the same person.
 *
 * @param placeholder the login's address from now on
 */
export const addressTakenMail = (at: Date, placeholder: string): Mail =>
  plainMail('A login that never proved your address has lost it', [
    `Somebody had registered your address and never entered the code that was mailed to it. On ${instant(at)} you proved that the address is yours. That login has lost it, and its sessions have ended. Its account is not yours, and has nothing of yours.`,
    'If it was you, your first account is still there. Sign in with its password and this address, then change the address in your profile:',
    placeholder,
  ]);

/** @param provider name of the identity provider, by the operator */
export const identityLinkedMail = (at: Date, provider: string): Mail =>
  plainMail('Your login was connected with an identity provider', [
    `On ${instant(at)} your login was connected with ${provider}, with its password. From now on you can sign in there.`,
    'If it was not you, change your password, and tell the owner of your account, or whoever runs this service.',
  ]);

/** The inviter's address, which is verified, is all that people can write in it. */
export const invitationMail = (invitedBy: string, role: Role, acceptUrl: string): Mail =>
  plainMail('You are invited to an AI spend account', [
    `${invitedBy} invites you to an account of AI Spend Gateway, with the role "${role}". To accept, open this link:`,
    acceptUrl,
    `The link works once, for ${INVITATION_DAYS} days.`,
    'If you do not know the sender, ignore this mail.',
  ]);

/**
 * To the owner.
 *
 * @param by mail address of the member
 * @param change what it was and is, in our words
 */
export const protectionChangedMail = (at: Date, by: string, change: string, settingsUrl: string): Mail =>
  plainMail('A setting that protects your account was changed', [
    `${by} changed it on ${instant(at)}, with their password or a recent sign-in. ${change}`,
    'If you do not agree with it, change it back, and check who your members are:',
    settingsUrl,
  ]);

export const deletionRequestedMail = (deletesAt: Date, settingsUrl: string): Mail =>
  plainMail('Your account will be deleted', [
    `The owner of your AI Spend Gateway account asked to delete it. On ${instant(deletesAt)} its service keys stop working, and everything in it is deleted for good. Until then nothing changes.`,
    'To keep the account, the owner can cancel this in the settings, where everything can also be exported:',
    settingsUrl,
  ]);

export const deletionCancelledMail = (): Mail =>
  plainMail('Your account stays', [
    'The owner of your AI Spend Gateway account cancelled its deletion. Nothing was deleted.',
  ]);
