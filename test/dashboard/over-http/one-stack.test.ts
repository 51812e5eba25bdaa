/* One suite for those whose stack may be the same: to start one takes eight seconds of processor time. */
import './connector.ts';
import './secrets-at-rest.ts';
