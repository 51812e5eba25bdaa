/** Every account has it, and keys of 0.1 belong to it. */
export const DEFAULT_PROJECT_ID = 'default';
