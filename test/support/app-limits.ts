/** Limits of an HTTP server that no test reaches by accident; those that are tested are set where they are. */
import { LIMITS } from '../../src/cli/limits.ts';

export const APP_LIMITS = {
  ...LIMITS,
  // A test knocks a thousand times within a second.
  maxSignInFailuresPerMinute: 1_000_000,
  maxWrongCredentialsPerMinute: 1_000_000,
};
