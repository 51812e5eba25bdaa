export * from './password-operations.ts';
export * from './profile-operations.ts';
export * from './session-operations.ts';
export * from './totp-operations.ts';
