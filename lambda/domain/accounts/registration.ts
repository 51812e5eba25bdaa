import { RegistrationClosedError } from '../errors.ts';

/** Who may get a login: anybody, with an account of their own; those a member invites; nobody, until an operator changes it. */
export const registrations = ['open', 'invite', 'closed'] as const;
export type Registration = (typeof registrations)[number];

/** @throws RegistrationClosedError */
export const requireRegistration = (registration: Registration, way: 'register' | 'invitation'): void => {
  if (registration === 'open' || (registration === 'invite' && way === 'invitation')) return;
  throw new RegistrationClosedError(
    registration === 'invite'
      ? 'New users come here by invitation. Ask a member of your account for one.'
      : 'No new users are admitted here. Ask who runs this service.',
  );
};
