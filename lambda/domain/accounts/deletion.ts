/** The days in which the owner can cancel the deletion of an account. */
export const DELETION_GRACE_DAYS = 7;
