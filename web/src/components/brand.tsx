/** The logo: rising bars. */
export const Mark = ({ size = 28 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#0f766e" />
    <path d="M8 22.5v-5M13.3 22.5v-9M18.7 22.5V16M24 22.5V9.5" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
  </svg>
);
