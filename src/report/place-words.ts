/** Where a finding belongs, as its reviewer named it; a heading without its marks. */
export const placeWords = (section: string): string => section.replace(/^\s*#{1,6}\s+/, '').trim() || 'no place named'
